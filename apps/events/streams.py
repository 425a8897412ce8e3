"""Where a caller who follows events is, and what it is sent next."""

from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.enums import EventType


@dataclass(frozen=True, slots=True)
class StreamPosition:
    """What one caller follows, and the number of the last event that it has."""

    project_id: UUID
    after: int
    types: tuple[EventType, ...] = ()
    includes_content: bool = False


@dataclass(frozen=True, slots=True)
class StreamPart:
    """Events as text to send (empty: none of the wanted types), and the number up to which that is all."""

    text: bytes
    last: int
