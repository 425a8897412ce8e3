"""Enums of alerts and the messages about them."""

from enum import StrEnum


class AlertKind(StrEnum):
    """What an alert is about: what users feel. Its subject is a model, a webhook, or nothing."""

    MODEL_UNAVAILABLE = "model_unavailable"
    EMBEDDER_UNAVAILABLE = "embedder_unavailable"
    NO_WORKER = "no_worker"
    QUEUE_AGE = "queue_age"
    DEAD_WORK = "dead_work"
    WEBHOOK_FAILING = "webhook_failing"


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
