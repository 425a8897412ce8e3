"""The actor and the request for which a plan is applied."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class WriteContext:
    """The actor and the request for which a plan is applied."""

    project_id: UUID
    end_user_id: UUID
    actor: str  # such as "trace:trc_…", "key:key_…", "person:7"
    trace_id: UUID | None = None
    session_id: UUID | None = None
    api_key_id: UUID | None = None
    topic: str = ""
    metadata: Mapping[str, Any] | None = None
    rollback_id: UUID | None = None  # of a rollback and of its undo
    quotes_other_traces: bool = False  # the turns of the plan's origins may be deleted until they are locked
