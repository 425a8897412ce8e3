"""The verdict on the installation, as /readyz and /metrics tell it."""

from datetime import datetime

from django.utils import timezone

from apps.alerts.enums import ProblemCode
from apps.alerts.verdict import ADVICE, verdict_of_installation
from apps.health.responses import PausedModelResponse, ReadinessResponse, ServiceProblem, ServiceStatus

_UNMIGRATED = {ProblemCode.DATABASE_UNAVAILABLE, ProblemCode.NOT_MIGRATED}
_UNAVAILABLE = _UNMIGRATED | {ProblemCode.DISK_FULL, ProblemCode.READ_ONLY}


def readiness() -> ReadinessResponse:
    """Return the state of the installation. Never raises."""
    verdict, now = verdict_of_installation(), timezone.now()
    read, found = verdict.readings, {each.code: each for each in reversed(verdict.troubles)}
    status = ServiceStatus.DEGRADED if found else ServiceStatus.OK
    paused = [
        PausedModelResponse(each.subject, each.since or now, each.figures["projects"])
        for each in verdict.troubles
        if each.code is ProblemCode.MODEL_UNAVAILABLE
    ]
    return ReadinessResponse(
        status=ServiceStatus.UNAVAILABLE if found.keys() & _UNAVAILABLE else status,
        database=ProblemCode.DATABASE_UNAVAILABLE not in found,
        migrations=not found.keys() & _UNMIGRATED,
        writable=not found.keys() & _UNAVAILABLE,
        oldest_queued_seconds=_age(read.oldest, now) or 0.0,
        vector_lag_seconds=_age(read.oldest_index, now) or 0.0,
        dead=read.dead,
        workers_alive=read.workers,
        scheduler_seconds=_age(read.scheduler, now),
        paused_models=paused,
        problems=[
            ServiceProblem(code, f"{each.problem} {each.remedy}", found[code].since)
            for code, each in ADVICE.items()
            if code in found
        ],
    )


def _age(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else round(max(0.0, (now - moment).total_seconds()), 1)
