"""Turn: one message, as a caller sends it and as it was accepted."""

from dataclasses import dataclass, fields
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID

from apps.pipeline.core.enums import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A message as the caller sends it.

    A new field is added here, to the model `traces.Turn` with its migration, and to the body of POST /v1/turns.
    """

    role: Role
    content: str
    speaker: str = ""
    occurred_at: datetime | None = None  # when it was said, according to the caller; nothing is guessed without it
    external_id: str = ""  # the caller's id of the turn, unique within the session
    utc_offset: int = 0  # minutes east of UTC of the clock that `occurred_at` was read from


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTurn(NewTurn):
    """A message as it was accepted."""

    id: UUID
    position: int  # within the session, from 0
    received_at: datetime

    @classmethod
    def accepted(cls, turn: NewTurn, *, id: UUID, position: int, received_at: datetime) -> "SourceTurn":
        """Return a turn with the fields that acceptance adds."""
        said: dict[str, Any] = {name: getattr(turn, name) for name in _SAID}
        return cls(id=id, position=position, received_at=received_at, **said)

    @property
    def said_at(self) -> datetime:
        """Return when it was said, or else when it was accepted."""
        return self.occurred_at or self.received_at

    @property
    def local_time(self) -> datetime:
        """Return when it was said by the speaker's clock: their "yesterday" is the day before its day."""
        return self.said_at.astimezone(timezone(timedelta(minutes=self.utc_offset)))


_SAID = tuple(each.name for each in fields(NewTurn))
