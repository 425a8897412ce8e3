"""What was measured of a project, and the conditions that it may meet."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from apps.actions.evaluation.share import Share
from apps.alerts.enums import AlertKind
from apps.pipeline.core.enums import PausedKind, Stage
from apps.traces.funnel_metrics import Tallies


@dataclass(frozen=True, slots=True)
class SilentModel:
    """A model or embedder that has not answered the project's calls since a time."""

    model: str
    kind: PausedKind
    since: datetime
    waiting: int  # requests and sessions of users that wait for it


@dataclass(frozen=True, slots=True)
class SilentReceiver:
    """A webhook whose receiver has taken nothing since a time; `is_paused` by the system, because of that."""

    webhook: str
    since: datetime
    waiting: int  # deliveries
    is_paused: bool


@dataclass(frozen=True, slots=True)
class Measured:
    """A project's queue at one moment, and its last hours, oldest first; the last hour is the current one.

    Ages in seconds. `latencies` are histograms of the spans of a stage, as in `funnel_metrics.quantile`, by hour.
    `precision` is that of the memories labelled in the latest week with labels, None without such a week.
    """

    now: datetime
    workers: int
    open_work: int = 0
    oldest_seconds: float = 0.0
    vector_lag_seconds: float = 0.0
    dead: int = 0
    precision: Share | None = None
    silent_models: tuple[SilentModel, ...] = ()
    silent_receivers: tuple[SilentReceiver, ...] = ()
    hours: Sequence[Tallies] = ()
    latencies: Mapping[Stage, Sequence[Mapping[int, int]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Condition:
    """Something that is wrong now. `window_hours` is the period that the figures are of; None is this moment.

    With `opens` False it is too young for an alert of its own, and only explains what follows from it.
    """

    kind: AlertKind
    subject: str = ""
    figures: Mapping[str, Any] = field(default_factory=dict)
    window_hours: int | None = None
    opens: bool = True

    @property
    def key(self) -> tuple[AlertKind, str]:
        """Return what tells alerts of a project apart."""
        return self.kind, self.subject
