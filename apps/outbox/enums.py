"""What is paused while it does not answer."""

from enum import StrEnum


class PausedKind(StrEnum):
    """What is paused while it doesn't answer."""

    MODEL = "model"
    EMBEDDER = "embedder"
