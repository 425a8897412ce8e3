"""Shapes of /healthz and /readyz."""

from enum import StrEnum

from apps.api.schemas.common import Answer


class Health(StrEnum):
    """How the service stands: `degraded` still serves, but no worker lives, or work waits too long or was given up."""

    OK = "ok"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


class LivenessAnswer(Answer):
    """The process answers."""

    status: Health = Health.OK


class ReadinessAnswer(Answer):
    """What this process needs, and how far owed work is behind; ages in seconds, 0 when nothing waits."""

    status: Health
    database: bool
    migrations: bool
    oldest_owed_seconds: float
    vector_lag_seconds: float
    dead: int
    workers_alive: int
