"""What keeps turns from being remembered now: silent models, missing workers, failed and late work."""

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from django.utils import timezone

from apps.console.labels import count_of
from apps.console.selectors.dashboard import ALIVE_WITHIN, LATE_AFTER_SECONDS
from apps.outbox import heartbeats
from apps.outbox.models import ModelPause, OutboxRow
from apps.outbox.querysets import Backlog, OutboxRowQuerySet
from apps.pipeline.core.enums import PausedKind
from apps.pipeline.core.number_formats import age


@dataclass(frozen=True, slots=True)
class TroubleLine:
    """One thing that is wrong, and the label of the link that leads to the queue; `query` are its parameters."""

    text: str
    remedy: str
    query: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong in a project, causes before what follows from them, and how much work has failed."""

    lines: tuple[TroubleLine, ...]
    failed: int


def find_trouble(*, project_id: UUID) -> Trouble:
    """Return what is wrong now, from small tables and partial indexes (four queries)."""
    backlog = OutboxRowQuerySet(OutboxRow).filter(project_id=project_id).backlog()
    return Trouble(tuple(_lines(project_id, backlog)), backlog.dead)


def _lines(project_id: UUID, backlog: Backlog) -> Iterator[TroubleLine]:
    is_explained = False
    for pause in ModelPause.objects.filter(project_id=project_id).order_by("since"):
        is_explained = True
        what = "embedder" if pause.kind == PausedKind.EMBEDDER else "model"
        yield TroubleLine(f"The {what} {pause.model} does not answer.", "See its error and try it now")
    if not heartbeats.alive(within=ALIVE_WITHIN):
        is_explained = True
        yield TroubleLine("No worker is running: accepted turns are waiting.", "See the workers")
    if backlog.dead:
        failed = count_of(backlog.dead, "entry", "entries")
        yield TroubleLine(f"{failed} of the queue failed.", "Retry the failed work", "state=dead")
    waited = (timezone.now() - backlog.oldest).total_seconds() if backlog.oldest else 0.0
    if waited > LATE_AFTER_SECONDS and not is_explained:
        yield TroubleLine(f"The oldest accepted work has waited for {age(waited)}.", "See what waits")
