"""The verdict on the installation, as /readyz and /metrics tell it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from django.utils import timezone

from apps.alerts.enums import ProblemCode
from apps.alerts.verdict import ADVICE, Trouble, verdict_of_installation


class ServiceStatus(StrEnum):
    """State of the service.

    `degraded`: it serves requests, but `problems` is not empty.
    """

    OK = "ok"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    """State of database, queue and models. Ages are in seconds, 0 if nothing is pending; `dead` counts failed work."""

    status: ServiceStatus
    database: bool
    migrations: bool
    writable: bool
    oldest_queued_seconds: float | None
    vector_lag_seconds: float | None
    dead: int | None
    workers_alive: int | None
    scheduler_seconds: float | None
    paused_models: Sequence[Trouble]
    problems: Sequence[Trouble]

    def without_figures(self) -> "Readiness":
        """Return what anyone may know."""
        return replace(
            self,
            oldest_queued_seconds=None,
            vector_lag_seconds=None,
            dead=None,
            workers_alive=None,
            scheduler_seconds=None,
            paused_models=(),
        )


_UNMIGRATED = {ProblemCode.DATABASE_UNAVAILABLE, ProblemCode.NOT_MIGRATED}
_UNAVAILABLE = _UNMIGRATED | {ProblemCode.DISK_FULL, ProblemCode.READ_ONLY}


def readiness() -> Readiness:
    """Return the state of the installation. Never raises."""
    verdict, now = verdict_of_installation(), timezone.now()
    read, found = verdict.readings, {each.code: each for each in reversed(verdict.troubles)}
    status = ServiceStatus.DEGRADED if found else ServiceStatus.OK
    return Readiness(
        status=ServiceStatus.UNAVAILABLE if found.keys() & _UNAVAILABLE else status,
        database=ProblemCode.DATABASE_UNAVAILABLE not in found,
        migrations=not found.keys() & _UNMIGRATED,
        writable=not found.keys() & _UNAVAILABLE,
        oldest_queued_seconds=_age(read.oldest, now) or 0.0,
        vector_lag_seconds=_age(read.oldest_index, now) or 0.0,
        dead=read.dead,
        workers_alive=read.workers,
        scheduler_seconds=_age(read.scheduler, now),
        paused_models=[each for each in verdict.troubles if each.code is ProblemCode.MODEL_UNAVAILABLE],
        problems=[found[code] for code in ADVICE if code in found],
    )


def _age(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else round(max(0.0, (now - moment).total_seconds()), 1)
