"""A search: its text and conditions, and the memories that it covers.

Memories that are valid at a time are compared with each other; conditions select those of them that may be results.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from operator import and_
from typing import Any
from uuid import UUID

from django.db.models import Q

from apps.memories.filter import MemoryFilter
from apps.memories.querysets import MemoryQuerySet
from apps.memories.source_filter import told_by_source
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.enums import MemoryType, Stakes, Status
from apps.pipeline.core.identifiers import Prefix, show
from apps.pipeline.core.policy import RetrievalPolicy


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """A search: its text and its filters; an empty filter does not restrict the result."""

    text: str = ""
    limit: int = 10
    types: tuple[MemoryType, ...] = ()
    topics: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # a hit has all of them
    entities: tuple[UUID, ...] = ()  # a hit has any of them as subject or object
    told_in: AgentScope = UNSCOPED  # one source of a hit has all that is named; without an agent: shared memories
    metadata: Mapping[str, Any] = field(default_factory=dict)  # the same source contains all of it
    filter: MemoryFilter | None = None
    said_from: datetime | None = None
    said_to: datetime | None = None
    statuses: tuple[Status, ...] = ()  # empty: those that the stakes allow
    stakes: Stakes = Stakes.NORMAL
    min_confidence: float = 0.0
    min_score: float | None = None  # of hits; None: that of the policy
    as_of: datetime | None = None  # statements that were true then, as known now

    def searched_statuses(self) -> Sequence[Status]:
        """Return the requested statuses, or those that may be shown; superseded ones only with `as_of`."""
        history = [Status.SUPERSEDED] if self.as_of else []
        return self.statuses or [*shown_statuses(self.stakes), *history]

    def least_confidence(self, policy: RetrievalPolicy) -> float:
        """Return the confidence that a hit has at least."""
        return max(self.min_confidence, policy.least_confidence[self.stakes])


def shown_statuses(stakes: Stakes) -> list[Status]:
    """Return the statuses that may be shown; memories that wait for review only at low stakes."""
    return [Status.ACTIVE, Status.PENDING_REVIEW] if stakes is Stakes.LOW else [Status.ACTIVE]


def compared(query: SearchQuery, *, of: MemoryQuerySet, now: datetime) -> MemoryQuerySet:
    """Return the memories of an end user that a search compares: those of a status and agent, valid at a time."""
    moment = query.as_of or now
    rows = of.filter(Q(expires_at=None) | Q(expires_at__gt=moment), status__in=query.searched_statuses())
    if agent := query.told_in.agent_id:  # what is private to another agent has no source in this one
        rows = rows.filter(Q(agent_id=agent) | Q(further_sources__contains=[{"agent_id": agent}]))
    else:
        rows = rows.filter(private_to="")
    if query.as_of:
        rows = rows.filter(valid_from__lte=moment)
    if query.as_of or not query.statuses:
        rows = rows.filter(Q(valid_until=None) | Q(valid_until__gt=moment))
    return rows


def eligible(query: SearchQuery, *, policy: RetrievalPolicy) -> Q:
    """Return the condition that a compared memory may be a result."""
    shown = [show(Prefix.ENTITY, each) for each in query.entities]
    about = Q(subject_id__in=query.entities) | Q(object__entity__in=shown)
    conditions = [
        Q(confidence__gte=query.least_confidence(policy)),
        *([Q(type__in=query.types)] if query.types else []),
        *([Q(topic__in=query.topics)] if query.topics else []),
        *([Q(tags__contains=list(query.tags))] if query.tags else []),
        *([about] if query.entities else []),
        *([Q(said_at__gte=query.said_from)] if query.said_from else []),
        *([Q(said_at__lte=query.said_to)] if query.said_to else []),
    ]
    scope = query.told_in if query.told_in.app_id or query.told_in.run_id or query.metadata else UNSCOPED
    conditions.append(told_by_source(scope=scope, metadata=query.metadata))
    if query.filter:
        conditions.append(query.filter.condition)
    return reduce(and_, conditions)
