"""The context block of one end user: rules, relevant memories, important facts, and upcoming events."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from django.db.models import F, Q
from django.db.models.functions import Round

from apps.memories.models import Memory, MemoryLink
from apps.memories.querysets import MemoryQuerySet
from apps.memories.search import SearchHit, SearchQuery, search, shown_statuses
from apps.pipeline.core.agent_scope import UNSCOPED, AgentScope
from apps.pipeline.core.enums import (
    CONSTRAINT,
    CONVENTION,
    MemoryType,
    Polarity,
    Precision,
    SourceConfidence,
    Stakes,
    Status,
)
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.retrieval.context_block import BlockSection, CountTokens, RenderedBlock, SectionPart, render
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
) -> RenderedBlock:
    """Read rules, facts, hits and disputes (six round trips), and render them within the budget.

    The block of an unknown end user is empty. Raises what the embedder raises.
    """
    known = block_parts(end_user_id=end_user_id, query=query, embedder=embedder, policy=policy, now=now)
    return render(known=known, token_budget=query.token_budget, count_tokens=count_tokens, now=now)


def block_parts(
    *, end_user_id: UUID, query: ContextQuery, embedder: Embedder, policy: RetrievalPolicy, now: datetime
) -> list[SectionPart]:
    """Read the memories of a block by section, the most valuable part first."""
    shown = _shown(end_user_id=end_user_id, query=query, policy=policy, now=now)
    hits = search(
        end_user_id=end_user_id,
        query=SearchQuery(text=query.text, limit=MAX_HITS, stakes=query.stakes, told_in=query.told_in),
        embedder=embedder,
        policy=policy,
        now=now,
    )
    rules = list(shown.filter(tags__overlap=[CONSTRAINT, CONVENTION])[:MAX_RULES])
    relevant, others = _by_score(hits, query)
    facts = _by_importance(shown.exclude(type=MemoryType.EVENT)[:MAX_FACTS], hits if query.text.strip() else ())
    upcoming = shown.filter(type=MemoryType.EVENT, event_at__gt=now).order_by("event_at", "-id")[:MAX_UPCOMING]
    rows: Sequence[tuple[BlockSection, Sequence[Memory]]] = (
        (BlockSection.CONSTRAINTS, [row for row in rules if CONSTRAINT in row.tags]),
        (BlockSection.CONVENTIONS, [row for row in rules if CONSTRAINT not in row.tags]),
        (BlockSection.RELEVANT, relevant[:RELEVANT_FIRST]),
        (BlockSection.FACTS, facts[:FACTS_FIRST]),
        (BlockSection.UPCOMING, list(upcoming)),
        (BlockSection.RELEVANT, relevant[RELEVANT_FIRST:]),
        (BlockSection.FACTS, facts[FACTS_FIRST:]),
        (BlockSection.OTHERS, others),
    )
    disputes = _disputes(end_user_id)
    return [(section, _with_disputes(found, disputes, query.stakes, policy)) for section, found in rows]


def _by_score(hits: Iterable[SearchHit], query: ContextQuery) -> tuple[list[Memory], list[Memory]]:
    """Split hits into relevant ones and others; hits with a score of 0 are left out."""
    if not query.text.strip():
        return [], [hit.memory for hit in hits]
    scored = [hit for hit in hits if hit.score > 0]
    relevant = [hit.memory for hit in scored if hit.score >= query.min_score]
    return relevant, [hit.memory for hit in scored if hit.score < query.min_score]


def _by_importance(rows: Iterable[Memory], hits: Sequence[SearchHit]) -> list[Memory]:
    """Sort facts by importance, rounded to a tenth; of equals, those nearest to the query first, then in their order.

    Evidence that is too weak for a score still helps: asked about a cake, an allergy comes before a doctor's name.
    """
    places = {hit.memory.id: place for place, hit in enumerate(hits)}
    return sorted(rows, key=lambda row: (-round(row.importance, 1), places.get(row.id, len(places))))


def _shown(*, end_user_id: UUID, query: ContextQuery, policy: RetrievalPolicy, now: datetime) -> MemoryQuerySet:
    """Return the memories that may be shown at the stakes, by importance rounded to a tenth, newest first."""
    stakes = query.stakes
    return (
        Memory.objects.for_end_user(end_user_id)
        .told_in(query.told_in)
        .filter(status__in=shown_statuses(stakes), confidence__gte=policy.least_confidence[stakes])
        .filter(Q(expires_at=None) | Q(expires_at__gt=now), Q(valid_until=None) | Q(valid_until__gt=now))
        .order_by(Round(F("importance"), precision=1).desc(), "-said_at", "-id")
        .to_show()
    )


def _disputes(end_user_id: UUID) -> Mapping[UUID, list[Memory]]:
    """Return, for each memory with an open contradiction, the live memories that contradict it, newest first."""
    links = MemoryLink.objects.to_settle().filter(end_user_id=end_user_id)
    links = links.select_related("from_memory__subject", "to_memory__subject")[:MAX_DISPUTES]
    found: dict[UUID, list[Memory]] = defaultdict(list)
    for link in links:
        found[link.from_memory_id].append(link.to_memory)
        found[link.to_memory_id].append(link.from_memory)
    return {memory_id: sorted(others, key=lambda row: row.said_at, reverse=True) for memory_id, others in found.items()}


def _with_disputes(
    rows: Sequence[Memory], disputes: Mapping[UUID, list[Memory]], stakes: Stakes, policy: RetrievalPolicy
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
