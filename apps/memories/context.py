"""What an agent is told of one end user: rules and facts always, and what its query asks for."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.memories.search import SearchQuery, search, shown_statuses
from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, MemoryType, Polarity, Precision, Stakes, Status, values_of
from apps.pipeline.core.policy import RetrievalPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.core.type_traits import SLOT_TYPES
from apps.pipeline.retrieval.context_block import BlockSection, ContextMemory, CountTokens, RenderedBlock, render

MAX_RULES = 200
MAX_FACTS = 100
MAX_RELEVANT = 30


@dataclass(frozen=True, slots=True)
class ContextQuery:
    """What the block is for; without a text it holds what matters most."""

    token_budget: int
    text: str = ""
    stakes: Stakes = Stakes.NORMAL


def build_block(
    *,
    end_user_id: UUID,
    query: ContextQuery,
    embedder: Embedder,
    count_tokens: CountTokens,
    policy: RetrievalPolicy,
    now: datetime,
) -> RenderedBlock:
    """Read rules, facts and hits (four round trips), and render them within the budget.

    An end user of whom nothing is known gets an empty block. Raises whatever the embedder raises.
    """
    told = _told(end_user_id=end_user_id, stakes=query.stakes, policy=policy, now=now)
    hits = search(
        end_user_id=end_user_id,
        query=SearchQuery(text=query.text, limit=MAX_RELEVANT, stakes=query.stakes),
        embedder=embedder,
        policy=policy,
        now=now,
    )
    rules = list(told.filter(tags__overlap=[CONSTRAINT, CONVENTION])[:MAX_RULES])
    facts = told.filter(type__in=values_of(SLOT_TYPES)).exclude(predicate="").exclude(object_text="")
    known = {
        BlockSection.CONSTRAINTS: _known(row for row in rules if CONSTRAINT in row.tags),
        BlockSection.CONVENTIONS: _known(row for row in rules if CONSTRAINT not in row.tags),
        BlockSection.FACTS: _known(facts.filter(polarity=Polarity.POSITIVE)[:MAX_FACTS]),
        BlockSection.RELEVANT: _known(hit.memory for hit in hits),
    }
    return render(known=known, token_budget=query.token_budget, count_tokens=count_tokens)


def _told(*, end_user_id: UUID, stakes: Stakes, policy: RetrievalPolicy, now: datetime) -> MemoryQuerySet:
    """Return what may be told at these stakes, the most important first, equals in the order in which they came."""
    return (
        Memory.objects.for_end_user(end_user_id)
        .filter(status__in=shown_statuses(stakes), confidence__gte=policy.least_confidence[stakes])
        .filter(Q(expires_at=None) | Q(expires_at__gt=now), Q(valid_until=None) | Q(valid_until__gt=now))
        .order_by("-importance", "id")
        .to_show()
    )


def _known(rows: Iterable[Memory]) -> tuple[ContextMemory, ...]:
    return tuple(
        ContextMemory(
            id=row.id,
            type=MemoryType(row.type),
            content=row.content,
            said_at=row.said_at,
            subject=row.subject.name if row.subject and not row.subject.is_user else "",
            predicate=row.predicate,
            object_text=row.object_text,
            event_at=row.event_at,
            event_precision=Precision(row.event_precision or Precision.INSTANT),
            is_unverified=row.status == Status.PENDING_REVIEW,
        )
        for row in rows
    )
