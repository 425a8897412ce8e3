"""Enums of what is wrong, alerts, and the messages about them."""

from enum import StrEnum


class ProblemCode(StrEnum):
    """What is wrong, causes first. The last six are alerts as well: what users feel."""

    DATABASE_UNAVAILABLE = "database_unavailable"
    NOT_MIGRATED = "not_migrated"
    DISK_FULL = "disk_full"
    READ_ONLY = "read_only"
    REDIS_UNAVAILABLE = "redis_unavailable"
    NO_SCHEDULER = "no_scheduler"
    NO_WORKER = "no_worker"
    MODEL_UNAVAILABLE = "model_unavailable"
    WORK_LATE = "work_late"
    DEAD_WORK = "dead_work"
    REQUESTS_FAIL = "requests_fail"
    REQUESTS_SLOW = "requests_slow"


class AlertState(StrEnum):
    """The state of an alert; an acknowledged one still lasts, but somebody takes care of it."""

    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    RESOLVED = "resolved"


class AlertEvent(StrEnum):
    """What a message tells about an alert."""

    OPENED = "opened"
    RESOLVED = "resolved"


class DeliveryChannel(StrEnum):
    """How a message is sent."""

    WEBHOOK = "webhook"
    MAIL = "mail"
