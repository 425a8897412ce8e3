"""Answers about the health of the server."""

from enum import StrEnum

import msgspec

from apps.alerts.enums import ProblemCode
from apps.api.schemas import Moment, ResponseBody


class ServiceStatus(StrEnum):
    """State of the service.

    `degraded`: it serves requests, but `problems` is not empty.
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


class ServiceProblem(ResponseBody):
    """Something that is wrong, what to do about it, and since when it is known to be so."""

    code: ProblemCode
    detail: str
    since: Moment | None


class ReadinessResponse(ResponseBody):
    """State of database, queue and models. Ages are in seconds, 0 if nothing is pending; `dead` counts failed work.

    `writable`: the database is neither read-only nor known to have a full disk.

    `scheduler_seconds` is the age of the scheduler's heartbeat, null before the first.

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
    scheduler_seconds: float | None
    paused_models: list[PausedModelResponse] = []
    problems: list[ServiceProblem] = []

    def without_figures(self) -> "ReadinessResponse":
        """Return what anyone may know."""
        return msgspec.structs.replace(
            self,
            oldest_queued_seconds=None,
            vector_lag_seconds=None,
            dead=None,
            workers_alive=None,
            scheduler_seconds=None,
            paused_models=[],
        )
