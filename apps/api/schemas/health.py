"""Schemas of /healthz and /readyz."""

from enum import StrEnum

from apps.api.schemas.common import ResponseBody


class ServiceStatus(StrEnum):
    """State of the service. `degraded`: it serves requests, but no worker is running, or work is late or failed."""

    OK = "ok"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


class LivenessResponse(ResponseBody):
    """The process is running."""

    status: ServiceStatus = ServiceStatus.OK


class ReadinessResponse(ResponseBody):
    """State of database and queue. Ages are in seconds, 0 if nothing is pending; `dead` counts failed work."""

    status: ServiceStatus
    database: bool
    migrations: bool
    oldest_owed_seconds: float
    vector_lag_seconds: float
    dead: int
    workers_alive: int
