"""A case of the review queue: evidence, history, links, comments, and what each decision would change."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from pgvector.django import MaxInnerProduct

from apps.console.labels import names_of
from apps.memories.models import Memory, MemoryComment, MemoryLink, MemoryOrigin, MemoryVector
from apps.memories.querysets import MemoryLinkQuerySet, MemoryQuerySet
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus, Stakes, Status
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.review.decisions import (
    Approve,
    ClosedMemory,
    Consequences,
    Decision,
    Merge,
    Settle,
    consequences_of,
    is_asserted,
)
from apps.review.context import review_context, review_contexts
from apps.review.selectors.comparisons import Comparison, keeping, load_comparisons, older_first
from apps.review.selectors.history import HistoryEntry, changes_of, named_changes
from apps.review.services import APPROVALS, StatusChange, possible_changes
from apps.review.undo import UNDONE
from apps.traces.models import Turn

MOST_COMMENTS = 50


@dataclass(frozen=True, slots=True)
class ShownComment:
    """A comment with the name of its author."""

    author: str
    text: str
    at: datetime


def comments_on(*memories: Memory) -> tuple[ShownComment, ...]:
    """Return the latest comments on memories of one end user, oldest first (two queries)."""
    latest = latest_comments(*memories)
    return named_comments(latest, names_of(each.author for each in latest))


def latest_comments(*memories: Memory) -> list[MemoryComment]:
    """Return the latest comments on memories of one end user, oldest first; named_comments() names their authors."""
    rows = MemoryComment.objects.filter(end_user_id=memories[0].end_user_id, memory__in=memories).order_by("-id")
    return list(rows[:MOST_COMMENTS])[::-1]


def named_comments(comments: Iterable[MemoryComment], names: Mapping[str, str]) -> tuple[ShownComment, ...]:
    """Return comments with the names of their authors."""
    return tuple(ShownComment(names[each.author], each.text, each.created_at) for each in comments)


def with_comment_count(memories: MemoryQuerySet) -> MemoryQuerySet:
    """Annotate the number of comments on each memory (`comment_count`)."""
    comments = MemoryComment.objects.filter(end_user=OuterRef("end_user"), memory=OuterRef("pk"))
    return memories.annotate(comment_count=_counted(comments, "memory"))


def pairs_with_comment_count(links: MemoryLinkQuerySet) -> MemoryLinkQuerySet:
    """Annotate the number of comments on either memory of each pair (`comment_count`)."""
    of_pair = Q(memory=OuterRef("from_memory")) | Q(memory=OuterRef("to_memory"))
    comments = MemoryComment.objects.filter(of_pair, end_user=OuterRef("end_user"))
    return links.annotate(comment_count=_counted(comments, "end_user"))


def _counted(comments: QuerySet[MemoryComment], by: str) -> Coalesce:
    return Coalesce(Subquery(comments.order_by().values(by).annotate(rows=Count("id")).values("rows")), 0)


MOST_SHOWN = 10


@dataclass(frozen=True, slots=True)
class Lineage:
    """The memories before and after one, latest first, and the trace that wrote it."""

    trace_id: UUID | None  # None if it was stored directly
    replaced: tuple[Memory, ...]
    absorbed: tuple[Memory, ...]  # merged into it, because they say the same
    successor: Memory | None  # that replaced it, or that it was merged into


def load_lineage(memory: Memory) -> Lineage:
    """Load the neighbours of a memory in its history (one query, two if another memory followed it)."""
    mine = Memory.objects.for_end_user(memory.end_user_id).to_show()
    closed = mine.filter(superseded_by=memory.pk).order_by("-updated_at", "id")[: 2 * MOST_SHOWN]
    before = {status: tuple(each for each in closed if each.status == status)[:MOST_SHOWN] for status in Status}
    after = mine.filter(pk=memory.superseded_by_id).first() if memory.superseded_by_id else None
    return Lineage(
        trace_id=memory.trace_id,
        replaced=before[Status.SUPERSEDED],
        absorbed=before[Status.MERGED],
        successor=after,
    )


MAX_CHARACTERS = 90  # of a statement that is quoted


@dataclass(frozen=True, slots=True)
class ConsequenceLine:
    """A decision and what follows from it."""

    decision: str
    text: str


@dataclass(frozen=True, slots=True)
class ReviewOptions:
    """What can be decided about a pending memory."""

    lines: tuple[ConsequenceLine, ...]
    replaceable: tuple[StoredMemory, ...] = ()  # contradicting memories that a plain approval leaves active


def review_options(
    memory: Memory, *, contradicts: Iterable[UUID], merge_into: UUID | None, policy: Policy, now: datetime
) -> ReviewOptions:
    """Predict what approving a memory or merging it does (one round trip)."""
    linked = [] if merge_into is None else [merge_into]
    context = review_context(memories=[memory], linked=linked, contradicts=list(contradicts), policy=policy)
    if memory.pk not in context.memories:
        return ReviewOptions(lines=())
    approval = consequences_of(Approve(memory.pk), context=context, now=now)
    lines = [_line("Approve", approval, main=memory.pk, is_rule=memory.is_rule)]
    if approval.beside:
        replacing = Approve(memory.pk, replaces=frozenset(each.id for each in approval.beside))
        replaced = consequences_of(replacing, context=context, now=now)
        lines.append(_line("Approve and replace", replaced, main=memory.pk, is_rule=memory.is_rule))
    if merge_into in context.memories and merge_into is not None:
        merged = consequences_of(Merge(memory.pk, into_id=merge_into), context=context, now=now)
        into = f"becomes a source of {_quoted(context.memories[merge_into])}"
        lines.append(_line("Merge", merged, main=merge_into, lead=into))
    return ReviewOptions(lines=tuple(lines), replaceable=approval.beside)


def approval_texts(
    memories: Sequence[Memory], *, contradicts: Mapping[UUID, Collection[UUID]], policy: Policy, now: datetime
) -> dict[UUID, str]:
    """Predict what approving each of some memories does, by memory (one round trip); decided ones are left out."""
    contexts = review_contexts(memories=memories, contradicts=contradicts, policy=policy)
    rules = {memory.pk for memory in memories if memory.is_rule}
    return {
        id: _line("Approve", consequences_of(Approve(id), context=context, now=now), main=id, is_rule=id in rules).text
        for id, context in contexts.items()
        if id in context.memories
    }


def link_options(link: MemoryLink, *, now: datetime) -> tuple[ConsequenceLine, ...]:
    """Predict what each way to settle a link does (one round trip)."""
    context = review_context(memories=[link.from_memory, link.to_memory])
    older, newer = older_first(link)
    sides = {older.pk: "A", newer.pk: "B"}
    keeps = {"Keep A": keeping(link, older), "Keep B": keeping(link, newer)}
    if not sides.keys() <= context.memories.keys():
        return ()
    lines = []
    for label, resolution in (
        {**keeps, **_RESOLUTIONS} if link.kind == LinkKind.CONTRADICTS else _OF_DUPLICATES
    ).items():
        decision: Decision = Settle(link.from_memory_id, link.to_memory_id, resolution)
        found = consequences_of(decision, context=context, now=now)
        shown = [f"{name}: {_shown(found.shown[id])}" for id, name in sides.items() if id in found.shown]
        if resolution is LinkResolution.BOTH and link.kind == LinkKind.CONTRADICTS:
            shown = ["agents are told that they contradict each other while both hold: give them dates"]
        ends = [_ended(each, sides) for each in found.ends]
        lines.append(ConsequenceLine(label, "; ".join([*ends, *shown]) or "nothing changes"))
    return tuple(lines)


_RESOLUTIONS: Mapping[str, LinkResolution] = {
    "Changed": LinkResolution.CHANGED,
    "Both": LinkResolution.BOTH,
    "About different things": LinkResolution.UNRELATED,
    "Same statement": LinkResolution.MERGED,
}
_OF_DUPLICATES: Mapping[str, LinkResolution] = {
    "Same statement": LinkResolution.MERGED,
    "Both hold": LinkResolution.BOTH,
}


def _line(name: str, found: Consequences, *, main: UUID, lead: str = "", is_rule: bool = False) -> ConsequenceLine:
    parts = [lead] if lead else []
    parts += [_ended(each, {}) for each in found.ends]
    parts += [f"stays beside {_quoted(each)}, which it contradicts: both stay active" for each in found.beside]
    if found.successor is not None:
        parts.append(f"becomes history, since {_quoted(found.successor)} was said later")
    else:
        parts.append(_shown(found.shown.get(main, ())))
        if is_rule:
            parts.append("every agent of this user is told to obey it")
    return ConsequenceLine(name, "; ".join(parts))


def _ended(ended: ClosedMemory, sides: Mapping[UUID, str]) -> str:
    side = sides.get(ended.memory.id)
    quoted = side or _quoted(ended.memory)
    if ended.status is Status.SUPERSEDED:
        return f"{side or f'replaces {quoted}, which'} ends on {ended.at:%Y-%m-%d}"
    if ended.status is Status.ACTIVE:
        return f"{quoted} stays active until {ended.at:%Y-%m-%d}"
    return f"{quoted} is {ended.status.value}"


def _quoted(memory: StoredMemory) -> str:
    text = memory.content if len(memory.content) <= MAX_CHARACTERS else f"{memory.content[: MAX_CHARACTERS - 1]}…"
    return f"“{text}” ({memory.status.value.replace('_', ' ')}, {memory.confidence:.2f})"


def _shown(stakes: Sequence[Stakes]) -> str:
    if not stakes:
        return "not told to agents"
    if len(stakes) == len(Stakes):
        return "every agent treats it as true"
    return "agents use it for small things only" if len(stakes) == 1 else "agents use it unless much depends on it"


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
    def is_asserted(self) -> bool:
        """Return True if the user has said it as a fact, so that approving it needs no question."""
        return is_asserted(self.memory)

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
        """Return who approved the memory last; empty if nobody did, it was undone, or it is long ago."""
        decided = (past for past in self.history if past.operation in APPROVALS or past.operation == UNDONE)
        latest = next(decided, None)
        return latest.actor if latest is not None and latest.operation in APPROVALS else ""


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
