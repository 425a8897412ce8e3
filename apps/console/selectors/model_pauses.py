"""Models of a project that do not answer, as the banner of a page shows them."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.utils import timezone

from apps.actions.alerts.conditions import KIND_OF_SILENCE
from apps.actions.number_formats import age
from apps.console.labels import count_of
from apps.outbox.model_pauses import waiting_requests
from apps.outbox.models import ModelPause
from apps.pipeline.core.enums import PausedKind


@dataclass(frozen=True, slots=True)
class PausedModelBanner:
    """A model that does not answer."""

    pause: ModelPause
    waiting: int  # requests and sessions of users that wait for it
    now: datetime

    @property
    def alert_key(self) -> tuple[str, str]:
        """Return kind and subject of the alert about it."""
        return KIND_OF_SILENCE[PausedKind(self.pause.kind)], self.pause.model

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
