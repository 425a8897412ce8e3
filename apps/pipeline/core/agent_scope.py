"""Agent scope: in which agent, application and run something was told, and the sources of a memory that this gives."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

MOST_FURTHER_SOURCES = 50  # of one memory, besides the first; the latest stay


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentScope:
    """The agent, application and run of a request; empty where the caller named none."""

    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""

    def given(self) -> dict[str, str]:
        """Return the identifiers that were named, by the names of their fields."""
        named = (("agent_id", self.agent_id), ("app_id", self.app_id), ("run_id", self.run_id))
        return {name: value for name, value in named if value}


UNSCOPED = AgentScope()


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySource:
    """Who told a memory: the scope with the metadata of the request; two sources never share metadata."""

    scope: AgentScope = UNSCOPED
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Return True for a request that named neither a scope nor metadata."""
        return not (self.scope.given() or self.metadata)

    def to_json(self) -> dict[str, Any]:
        """Return the form in which a memory stores its further sources."""
        return {**asdict(self.scope), "metadata": dict(self.metadata)}


def with_source(*, first: MemorySource, further: Sequence[Mapping[str, Any]], told: MemorySource) -> dict[str, Any]:
    """Return the fields of a stored memory that change when another request tells it, with their new values.

    A first source that named nothing takes what the other one names; otherwise the other one is kept beside it.
    """
    if told.is_empty or told == first or told.to_json() in further:
        return {}
    if first.is_empty and not further:
        return {**told.scope.given(), "metadata": dict(told.metadata)}
    return {"further_sources": (*further, told.to_json())[-MOST_FURTHER_SOURCES:]}
