"""Schemas of /healthz and /readyz."""

from datetime import datetime
from enum import StrEnum

from apps.api.schemas.common import ResponseBody


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
    since: datetime
    projects: int


class ReadinessResponse(ResponseBody):
    """State of database, queue and models. Ages are in seconds, 0 if nothing is pending; `dead` counts failed work."""

    status: ServiceStatus
    database: bool
    migrations: bool
    oldest_owed_seconds: float
    vector_lag_seconds: float
    dead: int
    workers_alive: int
    paused_models: list[PausedModelResponse] = []
