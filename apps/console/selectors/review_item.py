"""What a reviewer needs to decide about one memory, in a bounded number of queries."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q
from pgvector.django import MaxInnerProduct

from apps.actions.review.services import APPROVALS, StatusChange, possible_changes
from apps.console.selectors.comments import ShownComment, latest_comments, named_comments
from apps.console.selectors.comparisons import Comparison, load_comparisons
from apps.console.selectors.consequences import ReviewOptions, review_options
from apps.console.selectors.history import HistoryEntry, changes_of, named_changes
from apps.console.selectors.lineage import Lineage, load_lineage
from apps.console.selectors.people import names_of
from apps.memories.models import Memory, MemoryLink, MemoryOrigin, MemoryVector
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status
from apps.pipeline.core.policy import Policy
from apps.traces.models import Turn

CONTEXT_TURNS = 2
MAX_ORIGINS = 5
MAX_SIMILAR = 5
MIN_SIMILARITY = 0.5  # cosine


@dataclass(frozen=True, slots=True)
class EvidenceTurns:
    """One quote with the turns around it."""

    origin: MemoryOrigin
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class SimilarMemory:
    """A live memory with a similar content."""

    memory: Memory
    cosine: float
    is_repeat: bool  # probably the same statement: same predicate and polarity, similar enough not to be different


@dataclass(frozen=True, slots=True)
class LinkedMemory:
    """A memory linked as a conflict or possible duplicate."""

    link: MemoryLink
    memory: Memory
    comparison: Comparison | None  # if deduplication compared the two


@dataclass(frozen=True, slots=True)
class ReviewItem:
    """A memory with everything that a decision needs."""

    memory: Memory
    evidence: tuple[EvidenceTurns, ...]
    links: tuple[LinkedMemory, ...]
    similar: tuple[SimilarMemory, ...]
    history: tuple[HistoryEntry, ...]
    lineage: Lineage
    options: ReviewOptions | None  # of a single memory that is pending
    comments: tuple[ShownComment, ...] = ()

    @property
    def repeats(self) -> Memory | None:
        """Return the memory that this one probably repeats, into which one key may merge it."""
        return next((each.memory for each in self.similar if each.is_repeat), None)

    @property
    def changes(self) -> tuple[StatusChange, ...]:
        """Return what a person can do with a memory that waits for no decision."""
        return possible_changes(Status(self.memory.status))

    @property
    def approved_by(self) -> str:
        """Return who approved the memory last; empty if nobody did or it is long ago."""
        return next((past.actor for past in self.history if past.operation in APPROVALS), "")


def load_review_item(memory: Memory, *, policy: Policy, now: datetime, is_group: bool = False) -> ReviewItem:
    """Load a memory's evidence, links, similar memories and history, and what decisions about it would change.

    What a decision about a group changes is told for each member, not here.
    """
    links, similar = _links(memory), _similar(memory, policy)
    options = None
    if memory.status == Status.PENDING_REVIEW and not is_group:
        contradicts = [each.memory.pk for each in links if each.link.kind == LinkKind.CONTRADICTS]
        merge_into = next((each.memory.pk for each in similar if each.is_repeat), None)
        options = review_options(memory, contradicts=contradicts, merge_into=merge_into, policy=policy, now=now)
    changes, comments = changes_of(memory), latest_comments(memory)
    names = names_of([*(each.actor for each in changes), *(each.author for each in comments)])
    return ReviewItem(
        memory=memory,
        evidence=load_evidence(memory),
        links=links,
        similar=similar,
        history=named_changes(changes, names),
        lineage=load_lineage(memory),
        options=options,
        comments=named_comments(comments, names),
    )


def load_evidence(memory: Memory) -> tuple[EvidenceTurns, ...]:
    """Return the latest quotes of a memory with the turns around them (two queries)."""
    origins = (
        MemoryOrigin.objects.standing()
        .filter(end_user_id=memory.end_user_id, memory=memory)
        .select_related("turn", "session")
    )
    latest = list(origins.order_by("-said_at")[:MAX_ORIGINS])
    if not latest:
        return ()
    around = Q()
    for turn in (origin.turn for origin in latest):
        positions = (turn.position - CONTEXT_TURNS, turn.position + CONTEXT_TURNS)
        around |= Q(session_id=turn.session_id, position__range=positions)
    context = list(Turn.objects.filter(around, end_user_id=memory.end_user_id).order_by("session_id", "position"))
    return tuple(
        EvidenceTurns(origin=origin, turns=tuple(turn for turn in context if _is_near(turn, origin.turn)))
        for origin in latest
    )


def _is_near(turn: Turn, quoted: Turn) -> bool:
    return turn.session_id == quoted.session_id and abs(turn.position - quoted.position) <= CONTEXT_TURNS


def _links(memory: Memory) -> tuple[LinkedMemory, ...]:
    links = MemoryLink.objects.filter(
        Q(from_memory=memory) | Q(to_memory=memory), end_user_id=memory.end_user_id, status=LinkStatus.OPEN
    ).select_related("from_memory", "to_memory")
    heavy = [f"{side}__{field}" for side in ("from_memory", "to_memory") for field in ("terms", "context_terms")]
    found = list(links.defer(*heavy))
    comparisons = load_comparisons(found)
    return tuple(
        LinkedMemory(
            link=link,
            memory=link.to_memory if link.from_memory_id == memory.pk else link.from_memory,
            comparison=comparisons.get(link.pk),
        )
        for link in found
    )


def _similar(memory: Memory, policy: Policy) -> tuple[SimilarMemory, ...]:
    own = MemoryVector.objects.filter(end_user_id=memory.end_user_id, memory=memory).first()
    if own is None:
        return ()
    others = Memory.objects.for_end_user(memory.end_user_id).live().filter(private_to=memory.private_to)
    others = others.exclude(pk=memory.pk)
    near = (
        others.filter(vectors__end_user_id=memory.end_user_id, vectors__embedder=own.embedder)
        .annotate(distance=MaxInnerProduct("vectors__embedding", own.embedding))
        .order_by("distance")
        .to_show()
    )
    unsure = policy.dedupe.band(embedder=own.embedder).unsure
    close = (
        SimilarMemory(row, cosine=-row.distance, is_repeat=-row.distance >= unsure and _same_predicate(memory, row))
        for row in near[:MAX_SIMILAR]
    )
    return tuple(each for each in close if each.cosine >= MIN_SIMILARITY)


def _same_predicate(one: Memory, other: Memory) -> bool:
    return bool(one.predicate) and (one.predicate, one.polarity) == (other.predicate, other.polarity)
