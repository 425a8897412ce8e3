"""The context block of one end user: which memories it has, in the order of their value.

What the query needs comes first, then rules, then affirmed health, then upcoming events and other facts. Denials about
health and plans whose day has passed are in a block only if the query asks for them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import numpy as np
from django.db import transaction

from apps.memories.models import Entity, Memory
from apps.memories.models.memory import is_past_plan
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.enums import (
    BINDING_TAGS,
    CONSTRAINT,
    NOTE,
    MemoryType,
    Polarity,
    Precision,
    SourceConfidence,
    Stakes,
    Status,
)
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.core.predicates import HEALTH_PREDICATES
from apps.retrieval.block import (
    BlockSection,
    CountTokens,
    KnownUser,
    RenderedBlock,
    WaitingQuote,
    arrange,
    rendered,
)
from apps.retrieval.lines import ContextMemory
from apps.retrieval.query import SearchQuery, shown_statuses
from apps.retrieval.search import RankedMemories, embedded, open_contradictions, rank_all

MAX_HITS = 30
MAX_RULES = 100
MAX_OTHERS = 150
MAX_UPCOMING = 5
# So many of each kind come before the others, so that no kind keeps the others out of a small block.
RELEVANT_FIRST, RULES_FIRST, HEALTH_FIRST, WEAK_FIRST = 8, 5, 4, 3
_HEALTH = HEALTH_PREDICATES | {"diet"}
_NAMES = frozenset({"name", "has_name"})
# What a block is made of. It chooses among 150, and rows are made ten times as fast as models.
_COLUMNS = (
    *("id", "type", "status", "predicate", "object_text", "content", "polarity", "tags", "event_at", "event_precision"),
    *("said_at", "valid_from", "valid_until", "confidence", "confidence_parts", "source_confidence", "recurrence"),
)
_NAMELESS = "User"
_Row = Any  # with the columns as attributes


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The query of a block; without a text, the block contains the most important memories."""

    token_budget: int
    text: str = ""
    stakes: Stakes = Stakes.NORMAL
    min_score: float | None = None  # of the memories that come first; None: that of the policy
    told_in: AgentScope = UNSCOPED  # as in a SearchQuery


def build_block(
    *,
    end_user_id: UUID,
    query: ContextQuery,
    embedder: Embedder,
    count_tokens: CountTokens,
    policy: RetrievalPolicy,
    now: datetime,
    quotes: Sequence[WaitingQuote] = (),
) -> RenderedBlock:
    """Read what is known and render it within the budget; `quotes` are messages that wait to be processed.

    The block of an unknown end user is empty. Raises what the embedder raises.
    """
    known = known_user(end_user_id=end_user_id, query=query, embedder=embedder, policy=policy, now=now, quotes=quotes)
    lines = arrange(known, token_budget=query.token_budget, count_tokens=count_tokens, now=now)
    return rendered(lines, count_tokens=count_tokens)


def known_user(
    *,
    end_user_id: UUID,
    query: ContextQuery,
    embedder: Embedder,
    policy: RetrievalPolicy,
    now: datetime,
    quotes: Sequence[WaitingQuote] = (),
) -> KnownUser:
    """Read the memories of a block by section, the most valuable part first."""
    search = SearchQuery(
        text=query.text, limit=MAX_HITS, stakes=query.stakes, told_in=query.told_in, min_score=query.min_score
    )
    asked = embedded(query.text, embedder)
    with transaction.atomic(savepoint=False):
        ranked = rank_all(end_user_id=end_user_id, query=search, asked=asked, policy=policy, now=now)
        chosen = _chosen(ranked, now=now)
        places = list(dict.fromkeys(place for kind in chosen.values() for place in kind))
        ids = ranked.ids(places)
        disputed = open_contradictions(ids, end_user_id=end_user_id)
        others = {side for sides in disputed.values() for side in sides}
        known = Memory.objects.for_end_user(end_user_id).filter(id__in=[*ids, *others]).order_by()
        found = {row.id: row for row in known.values_list(*_COLUMNS, named=True)}
        names = Entity.objects.filter(end_user_id=end_user_id, is_user=True).values_list("name", flat=True)
        name = names.first() or ""
    rows = {place: found[each] for place, each in zip(places, ids, strict=True) if each in found}
    statuses, least = shown_statuses(query.stakes), policy.least_confidence[query.stakes]
    sure = policy.least_confidence[Stakes.HIGH]

    def memory(row: _Row) -> ContextMemory:
        sides = [found[each] for each in disputed.get(row.id, ()) if each in found]
        shown = [each for each in sides if each.status in statuses and each.confidence >= least]
        latest_first = sorted(shown, key=lambda each: each.said_at, reverse=True)
        others = [_context_memory(each, now=now, sure=sure) for each in latest_first]
        return _context_memory(row, now=now, sure=sure, is_disputed=bool(sides), others=others)

    in_heading = {row.id for row in rows.values() if row.predicate in _NAMES and row.object_text == name}
    return KnownUser(
        name="" if name == _NAMELESS else name,
        parts=[
            (section, [memory(row) for row in part if section is BlockSection.RELEVANT or row.id not in in_heading])
            for section, part in _parts(chosen, rows, now)
        ],
        quotes=quotes,
    )


def _chosen(ranked: RankedMemories, *, now: datetime) -> dict[str, list[int]]:
    """Return the places of the memories that a block may have by kind, the best of each kind first."""
    candidates, scores = ranked.candidates, ranked.scores
    may_be, is_asked = candidates.eligible, ranked.min_score >= 0
    ordered = scores.best(limit=MAX_OTHERS, min_score=-1.0, eligible=may_be)
    tenths, said_at = np.round(candidates.memories.importance, 1), candidates.memories.said_at
    latest = ordered if is_asked else sorted(np.flatnonzero(may_be).tolist(), key=lambda place: -said_at[place])
    is_next = candidates.are_events & (candidates.event_at > now.timestamp()) & may_be
    upcoming = sorted(np.flatnonzero(is_next).tolist(), key=lambda place: candidates.event_at[place])
    return {
        "relevant": ranked.best(limit=MAX_HITS) if is_asked else [],
        "weak": latest[:WEAK_FIRST] if is_asked else [],  # hits below the least score
        "rules": scores.best(limit=MAX_RULES, min_score=-1.0, eligible=may_be & candidates.are_rules),
        "upcoming": upcoming[:MAX_UPCOMING],
        "others": sorted(latest, key=lambda place: -tenths[place])[:MAX_OTHERS],
    }


def _parts(
    chosen: Mapping[str, list[int]], rows: Mapping[int, _Row], now: datetime
) -> list[tuple[BlockSection, Sequence[_Row]]]:
    relevant, weak, rules, upcoming, others = (
        [rows[place] for place in places if place in rows] for places in chosen.values()
    )
    notes, relevant = _divided(relevant)
    # Denials about health, and plans whose day has passed, are only told if the query asks for them.
    denials = {each.id for each in others if each.predicate in _HEALTH and each.polarity == Polarity.NEGATIVE}
    told = [each for each in others if each.id not in denials and not is_past_plan(each, now=now)]
    other_notes, facts = _divided(told)
    health = [each for each in facts if each.predicate in _HEALTH]
    dated = [each for each in facts if each.type == MemoryType.EVENT]
    facts = [each for each in facts if each.type != MemoryType.EVENT]
    weak = [each for each in weak if each in told]
    return [
        (BlockSection.RELEVANT, relevant[:RELEVANT_FIRST]),
        (BlockSection.QUOTES, _newest_first(notes[:RELEVANT_FIRST])),
        *_rules(rules[:RULES_FIRST]),
        (BlockSection.HEALTH, health[:HEALTH_FIRST]),
        (BlockSection.RELEVANT, relevant[RELEVANT_FIRST:]),
        (BlockSection.FACTS, _divided(weak)[1]),
        (BlockSection.UPCOMING, upcoming),
        *_rules(rules[RULES_FIRST:]),
        (BlockSection.HEALTH, health[HEALTH_FIRST:]),
        (BlockSection.FACTS, facts),
        (BlockSection.QUOTES, _newest_first(notes[RELEVANT_FIRST:])),
        (BlockSection.FACTS, _newest_first(dated)),
        (BlockSection.QUOTES, _newest_first(other_notes)),
    ]


def _rules(rows: Sequence[_Row]) -> list[tuple[BlockSection, Sequence[_Row]]]:
    return [
        (BlockSection.CONSTRAINTS, [row for row in rows if CONSTRAINT in row.tags]),
        (BlockSection.CONVENTIONS, [row for row in rows if CONSTRAINT not in row.tags]),
    ]


def _divided(rows: Sequence[_Row]) -> tuple[list[_Row], list[_Row]]:
    """Divide memories into notes, which claim nothing, and the others."""
    return [row for row in rows if NOTE in row.tags], [row for row in rows if NOTE not in row.tags]


def _newest_first(rows: Iterable[_Row]) -> list[_Row]:
    return sorted(rows, key=lambda row: row.said_at, reverse=True)


def _context_memory(
    row: _Row, *, now: datetime, sure: float, is_disputed: bool = False, others: Iterable[ContextMemory] = ()
) -> ContextMemory:
    return ContextMemory(
        id=row.id,
        type=MemoryType(row.type),
        content=row.content,
        said_at=row.said_at,
        is_rule=not BINDING_TAGS.isdisjoint(row.tags),
        is_quote=NOTE in row.tags,
        event_at=row.event_at,
        event_precision=Precision(row.event_precision or Precision.INSTANT),
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        is_past_plan=is_past_plan(row, now=now),
        source_confidence=SourceConfidence(row.source_confidence),
        is_unverified=row.status == Status.PENDING_REVIEW,
        # What a person has kept as uncertain stays below high stakes, and keeps its doubt.
        is_approved=bool(row.confidence_parts.get("review")) and row.confidence >= sure,
        is_disputed=is_disputed,
        contradicted_by=tuple(others),
    )
