"""Answers about the health of the server."""

from enum import StrEnum

import msgspec

from apps.api.schemas.common import Moment, ResponseBody


class ServiceStatus(StrEnum):
    """State of the service.

    `degraded`: it serves requests, but no worker is running, a model does not answer, or work is late or failed.
    """

    OK = "ok"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


class LivenessResponse(ResponseBody):
    """The process is running."""

    status: ServiceStatus = ServiceStatus.OK


class PausedModelResponse(ResponseBody):
    """A model or embedder that has not answered since then; work that needs it waits in so many projects."""

    model: str
    since: Moment
    projects: int


class ProblemCode(StrEnum):
    """What is wrong with an installation."""

    DATABASE_UNAVAILABLE = "database_unavailable"
    NOT_MIGRATED = "not_migrated"
    NOT_WRITABLE = "not_writable"
    REDIS_UNAVAILABLE = "redis_unavailable"
    NO_WORKER = "no_worker"
    WORK_LATE = "work_late"
    DEAD_WORK = "dead_work"
    MODEL_UNAVAILABLE = "model_unavailable"


class ServiceProblem(ResponseBody):
    """Something that is wrong, and what to do about it."""

    code: ProblemCode
    detail: str


class ReadinessResponse(ResponseBody):
    """State of database, queue and models. Ages are in seconds, 0 if nothing is pending; `dead` counts failed work.

    `writable`: the database is neither read-only nor known to have a full disk.

    Callers that may not read /metrics get null in place of figures, and no names of models.
    """

    status: ServiceStatus
    database: bool
    migrations: bool
    writable: bool
    oldest_queued_seconds: float | None
    vector_lag_seconds: float | None
    dead: int | None
    workers_alive: int | None
    paused_models: list[PausedModelResponse] = []
    problems: list[ServiceProblem] = []

    def without_figures(self) -> "ReadinessResponse":
        """Return what anyone may know."""
        return msgspec.structs.replace(
            self, oldest_queued_seconds=None, vector_lag_seconds=None, dead=None, workers_alive=None, paused_models=[]
        )
