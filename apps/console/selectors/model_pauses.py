"""Models of a project that do not answer, as the banner of a page shows them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from apps.console.labels import count_of
from apps.outbox.models import ModelPause, OutboxRow, UserLease
from apps.pipeline.core.enums import RUNS, PausedKind, WorkState


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
        verb = "waits" if self.waiting == 1 else "wait"
        return (
            f"The {what} {self.pause.model} has not answered since {_clock(self.pause.since, self.now)}: "
            f"{self.pause.error.rstrip('.')}. {count_of(self.waiting, 'request')} {verb}; {self._next_try}."
        )

    @property
    def _next_try(self) -> str:
        seconds = (self.pause.until - self.now).total_seconds()
        return f"next try in {seconds:.0f} s" if seconds >= 1 else "the next try is due"


def model_pauses(*, project_id: UUID) -> list[PausedModelBanner]:
    """Return the paused models of a project; without any, with one query."""
    now = timezone.now()
    pauses = ModelPause.objects.filter(project_id=project_id).order_by("since")
    return [PausedModelBanner(pause, _waiting(pause), now) for pause in pauses]


def _waiting(pause: ModelPause) -> int:
    users = UserLease.objects.filter(project_id=pause.project_id, waits_for=pause.model, ready_at__isnull=False)
    rows = OutboxRow.objects.filter(project_id=pause.project_id, state=WorkState.PENDING, kind__in=RUNS)
    return rows.filter(end_user_id__in=users.values("end_user_id")).count()


def _clock(moment: datetime, now: datetime) -> str:
    """Return a time of today as a clock shows it, an earlier one with its date."""
    return f"{moment:%H:%M} UTC" if moment.date() == now.date() else f"{moment:%Y-%m-%d %H:%M} UTC"
