"""A trace that a caller waits for. The server reads this before Django is set up, so there is no model here."""

from dataclasses import dataclass
from uuid import UUID

from apps.traces.enums import Milestone


@dataclass(frozen=True, slots=True)
class AwaitedTrace:
    """A trace, and how far it has to come."""

    trace_id: UUID
    milestone: Milestone = Milestone.ENDED
