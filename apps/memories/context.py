"""The context block of one end user: rules, relevant memories, important facts, and upcoming events."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from apps.memories.models import Memory
from apps.memories.search import BlockLimits, SearchHit, SearchQuery, read_block, shown_statuses
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.enums import (
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
from apps.pipeline.retrieval.context_block import (
    BlockSection,
    CountTokens,
    RenderedBlock,
    SectionPart,
    WaitingQuote,
    render,
)
from apps.pipeline.retrieval.context_line import ContextMemory

MAX_RULES = 200
MAX_FACTS = 100
MAX_HITS = 30
MAX_UPCOMING = 5
# So many of the relevant memories and of the important facts come before the upcoming events and the other relevant
# memories, so that none of the three keeps the others out of a small block.
RELEVANT_FIRST = 8
FACTS_FIRST = 5
MAX_DISPUTES = 500
MIN_SCORE = 0.1  # above noise: docs/decisions/search.md


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """The query of a block; without a text, the block contains the most important memories."""

    token_budget: int
    text: str = ""
    stakes: Stakes = Stakes.NORMAL
    min_score: float = MIN_SCORE  # of hits that are placed before important facts
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
    """Read rules, facts, hits and disputes (three round trips), and render them within the budget.

    `quotes` are messages that wait to be processed; they come after the rules. The block of an unknown end user is
    empty. Raises what the embedder raises.
    """
    known = block_parts(end_user_id=end_user_id, query=query, embedder=embedder, policy=policy, now=now)
    return render(known=known, quotes=quotes, token_budget=query.token_budget, count_tokens=count_tokens, now=now)


def block_parts(
    *, end_user_id: UUID, query: ContextQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> list[SectionPart]:
    """Read the memories of a block by section, the most valuable part first."""
    known = read_block(
        end_user_id=end_user_id,
        query=SearchQuery(text=query.text, limit=MAX_HITS, stakes=query.stakes, told_in=query.told_in),
        limits=BlockLimits(rules=MAX_RULES, facts=MAX_FACTS, upcoming=MAX_UPCOMING, disputes=MAX_DISPUTES),
        embedder=embedder,
        policy=policy,
        now=now,
    )
    relevant, others = _by_score(known.hits, query)
    notes, relevant = _divided(relevant)
    other_notes, others = _divided(others)
    facts = _by_importance(known.facts, known.hits if query.text.strip() else ())
    rows: Sequence[tuple[BlockSection, Sequence[Memory]]] = (
        (BlockSection.CONSTRAINTS, [row for row in known.rules if CONSTRAINT in row.tags]),
        (BlockSection.CONVENTIONS, [row for row in known.rules if CONSTRAINT not in row.tags]),
        (BlockSection.RELEVANT, relevant[:RELEVANT_FIRST]),
        (BlockSection.QUOTES, _newest_first(notes[:RELEVANT_FIRST])),
        (BlockSection.FACTS, facts[:FACTS_FIRST]),
        (BlockSection.UPCOMING, known.upcoming),
        (BlockSection.RELEVANT, relevant[RELEVANT_FIRST:]),
        (BlockSection.QUOTES, _newest_first(notes[RELEVANT_FIRST:])),
        (BlockSection.FACTS, facts[FACTS_FIRST:]),
        (BlockSection.OTHERS, others),
        (BlockSection.QUOTES, _newest_first(other_notes)),
    )
    return [(section, _with_disputes(found, known.disputes, query.stakes, policy)) for section, found in rows]


def _by_score(hits: Iterable[SearchHit], query: ContextQuery) -> tuple[list[Memory], list[Memory]]:
    """Split hits into relevant ones and others; hits with a score of 0 are left out."""
    if not query.text.strip():
        return [], [hit.memory for hit in hits]
    scored = [hit for hit in hits if hit.score > 0]
    relevant = [hit.memory for hit in scored if hit.score >= query.min_score]
    return relevant, [hit.memory for hit in scored if hit.score < query.min_score]


def _divided(rows: Sequence[Memory]) -> tuple[list[Memory], list[Memory]]:
    """Divide memories into notes, which claim nothing, and the others."""
    return [row for row in rows if NOTE in row.tags], [row for row in rows if NOTE not in row.tags]


def _newest_first(rows: Iterable[Memory]) -> list[Memory]:
    return sorted(rows, key=lambda row: row.said_at, reverse=True)


def _by_importance(rows: Iterable[Memory], hits: Sequence[SearchHit]) -> list[Memory]:
    """Sort facts by importance, rounded to a tenth; of equals, those nearest to the query first, then in their order.

    Evidence that is too weak for a score still helps: asked about a cake, an allergy comes before a doctor's name.
    """
    places = {hit.memory.id: place for place, hit in enumerate(hits)}
    return sorted(rows, key=lambda row: (-round(row.importance, 1), places.get(row.id, len(places))))


def _with_disputes(
    rows: Sequence[Memory], disputes: Mapping[UUID, Sequence[Memory]], stakes: Stakes, policy: RetrievalPolicy
) -> list[ContextMemory]:
    """Convert rows; the other side of a dispute is shown only if it may be shown by itself."""
    statuses, least = shown_statuses(stakes), policy.least_confidence[stakes]
    return [
        replace(
            _context_memory(row),
            is_disputed=row.id in disputes,
            contradicted_by=tuple(
                _context_memory(other)
                for other in disputes.get(row.id, ())
                if other.status in statuses and other.confidence >= least
            ),
        )
        for row in rows
    ]


def _context_memory(row: Memory) -> ContextMemory:
    return ContextMemory(
        id=row.id,
        type=MemoryType(row.type),
        content=row.content,
        said_at=row.said_at,
        subject=row.subject.name if row.subject and not row.subject.is_user else "",
        predicate=row.predicate,
        object_text=row.object_text,
        polarity=Polarity(row.polarity),
        event_at=row.event_at,
        event_precision=Precision(row.event_precision or Precision.INSTANT),
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        source_confidence=SourceConfidence(row.source_confidence),
        is_unverified=row.status == Status.PENDING_REVIEW,
        is_approved=bool(row.confidence_parts.get("review")),
    )
