"""Failed work, and the health of models."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import Left
from django.utils import timezone

from apps.common.number_formats import age
from apps.console.labels import count_of
from apps.outbox.model_pauses import waiting_requests
from apps.outbox.models import ModelPause, OutboxRow, PausedKind
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.queue.services import ModelFigures, read_model_figures
from apps.traces.models import Trace

ERROR_CHARACTERS = 120  # of an error; errors that begin with the same text form one group
MOST_GROUPS = 20


@dataclass(frozen=True, slots=True)
class FailedGroup:
    """Failed work with the same error or of the same user."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class FailedWork:
    """Failed work: dead outbox rows, and traces with a failed extraction."""

    total: int
    by_error: list[FailedGroup]
    by_user: list[FailedGroup]


def failed_work(*, project_id: UUID) -> FailedWork:
    """Count failed work, the largest groups first, from partial indexes."""
    dead = OutboxRow.objects.filter(project_id=project_id, state=WorkState.DEAD)
    failed = Trace.objects.filter(project_id=project_id, status=TraceStatus.EXTRACTION_FAILED)
    errors = _counted(
        dead.annotate(name=Left("last_error", ERROR_CHARACTERS)), failed.annotate(name=Left("error", ERROR_CHARACTERS))
    )
    users = _counted(*(rows.values("end_user__external_id") for rows in (dead, failed)), name="end_user__external_id")
    return FailedWork(total=sum(errors.values()), by_error=_largest(errors), by_user=_largest(users))


def _counted(*queries: Any, name: str = "name") -> Counter[str]:
    counted: Counter[str] = Counter()
    for rows in queries:
        counted.update(dict(rows.order_by().values_list(name).annotate(count=Count("pk"))))
    return counted


def _largest(counted: Counter[str]) -> list[FailedGroup]:
    return [FailedGroup(name, count) for name, count in counted.most_common(MOST_GROUPS)]


@dataclass(frozen=True, slots=True)
class PausedModelBanner:
    """A model that does not answer."""

    pause: ModelPause
    waiting: int  # requests and sessions of users that wait for it
    now: datetime

    @property
    def text(self) -> str:
        """Return what has happened, what waits, and when it is tried again."""
        what = "embedder" if self.pause.kind == PausedKind.EMBEDDER else "model"
        is_today = self.pause.since.date() == self.now.date()
        since = f"{self.pause.since:%H:%M} UTC" if is_today else f"{self.pause.since:%Y-%m-%d %H:%M} UTC"
        verb = "waits" if self.waiting == 1 else "wait"
        seconds = (self.pause.until - self.now).total_seconds()
        next_try = f"next try in {age(seconds)}" if seconds >= 1 else "the next try is due"
        error = f": {self.pause.error.rstrip('.')}" if self.pause.error else ""
        return (
            f"The {what} {self.pause.model} has not answered since {since}{error}. "
            f"{count_of(self.waiting, 'request')} {verb}; {next_try}."
        )


def model_pauses(*, project_id: UUID) -> list[PausedModelBanner]:
    """Return the paused models of a project; without any, with one query."""
    now = timezone.now()
    pauses = ModelPause.objects.filter(project_id=project_id).order_by("since")
    return [
        PausedModelBanner(pause, waiting_requests(project_id=project_id, model=pause.model), now) for pause in pauses
    ]


_TONES = {"answers": "good", "no calls": "plain", "last call failed": "wait"}


@dataclass(frozen=True, slots=True)
class ModelHealth:
    """A model with the figures of its calls."""

    figures: ModelFigures
    is_paused: bool

    @property
    def state(self) -> str:
        """Return in a word how it does now."""
        figures = self.figures
        if figures.problem:
            return "not usable"
        if self.is_paused:
            return "does not answer"
        if figures.last_failure and (figures.last_answer is None or figures.last_failure > figures.last_answer):
            return "last call failed"
        return "answers" if figures.last_answer else "no calls"

    @property
    def tone(self) -> str:
        """Return the colour name of the state."""
        return _TONES.get(self.state, "bad")


def model_health(*, project_id: UUID, pauses: Sequence[PausedModelBanner]) -> list[ModelHealth]:
    """Return the models that a project uses, then those that it could use."""
    paused = {banner.pause.model for banner in pauses}
    return [ModelHealth(each, each.name in paused) for each in read_model_figures(project_id=project_id)]
