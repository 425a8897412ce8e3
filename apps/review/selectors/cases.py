"""A case of the review queue: evidence, history, links, comments, and what each decision would change."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any
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
from apps.review.selectors.comparisons import (
    UNCERTAIN,
    change_text,
    changes_of,
    keeping,
    load_comparisons,
    older_first,
    rejection_reasons,
    shortened,
)
from apps.review.services import APPROVALS, possible_changes
from apps.review.undo import UNDONE
from apps.traces.models import Turn

MOST_COMMENTS = 50


def comments_on(*memories: Memory) -> list[MemoryComment]:
    """Return the latest comments on memories of one end user, oldest first."""
    rows = MemoryComment.objects.filter(end_user_id=memories[0].end_user_id, memory__in=memories).order_by("-id")
    return list(rows[:MOST_COMMENTS])[::-1]


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


def load_lineage(memory: Memory) -> dict[str, Any]:
    """Return the memories that one replaced or absorbed, latest first, and its successor (one or two queries)."""
    mine = Memory.objects.for_end_user(memory.end_user_id).to_show()
    closed = mine.filter(superseded_by=memory.pk).order_by("-updated_at", "id")[: 2 * MOST_SHOWN]
    return {
        "replaced": [each for each in closed if each.status == Status.SUPERSEDED][:MOST_SHOWN],
        "absorbed": [each for each in closed if each.status == Status.MERGED][:MOST_SHOWN],
        "successor": mine.filter(pk=memory.superseded_by_id).first() if memory.superseded_by_id else None,
    }


def review_options(
    memory: Memory, *, contradicts: Sequence[UUID], merge_into: UUID | None, policy: Policy, now: datetime
) -> tuple[dict[str, str], Sequence[StoredMemory]]:
    """Predict what each decision about a memory does, in words (one round trip).

    Return also the contradicting memories that a plain approval leaves active.
    """
    linked = [] if merge_into is None else [merge_into]
    context = review_context(memories=[memory], linked=linked, contradicts=contradicts, policy=policy)
    if memory.pk not in context.memories:
        return {}, ()
    approval = consequences_of(Approve(memory.pk), context=context, now=now)
    texts = {"Approve": _told(approval, main=memory.pk, is_rule=memory.is_rule)}
    if approval.beside:
        replacing = Approve(memory.pk, replaces=frozenset(each.id for each in approval.beside))
        replaced = consequences_of(replacing, context=context, now=now)
        texts["Approve and replace"] = _told(replaced, main=memory.pk, is_rule=memory.is_rule)
    if merge_into in context.memories and merge_into is not None:
        merged = consequences_of(Merge(memory.pk, into_id=merge_into), context=context, now=now)
        into = f"becomes a source of {_quoted(context.memories[merge_into])}"
        texts["Merge"] = "; ".join([into, _told(merged, main=merge_into)])
    return texts, approval.beside


def approval_texts(
    memories: Sequence[Memory], *, contradicts: Mapping[UUID, Collection[UUID]], policy: Policy, now: datetime
) -> dict[UUID, str]:
    """Predict what approving each of some memories does, by memory (one round trip); decided ones are left out."""
    contexts = review_contexts(memories=memories, contradicts=contradicts, policy=policy)
    rules = {memory.pk for memory in memories if memory.is_rule}
    return {
        id: _told(consequences_of(Approve(id), context=context, now=now), main=id, is_rule=id in rules)
        for id, context in contexts.items()
        if id in context.memories
    }


def link_options(link: MemoryLink, *, now: datetime) -> dict[str, str]:
    """Predict what each way to settle a link does, in words (one round trip)."""
    context = review_context(memories=[link.from_memory, link.to_memory])
    older, newer = older_first(link)
    sides = {older.pk: "A", newer.pk: "B"}
    if not sides.keys() <= context.memories.keys():
        return {}
    ways = {"Same statement": LinkResolution.MERGED, "Both hold": LinkResolution.BOTH}
    if link.kind == LinkKind.CONTRADICTS:
        ways = {
            "Keep A": keeping(link, older),
            "Keep B": keeping(link, newer),
            "Changed": LinkResolution.CHANGED,
            "Both": LinkResolution.BOTH,
            "About different things": LinkResolution.UNRELATED,
            "Same statement": LinkResolution.MERGED,
        }
    texts = {}
    for name, resolution in ways.items():
        decision: Decision = Settle(link.from_memory_id, link.to_memory_id, resolution)
        found = consequences_of(decision, context=context, now=now)
        shown = [f"{side}: {_shown(found.shown[id])}" for id, side in sides.items() if id in found.shown]
        if resolution is LinkResolution.BOTH and link.kind == LinkKind.CONTRADICTS:
            shown = ["agents are told that they contradict each other while both hold: give them dates"]
        ends = [_ended(each, sides) for each in found.ends]
        texts[name] = "; ".join([*ends, *shown]) or "nothing changes"
    return texts


def _told(found: Consequences, *, main: UUID, is_rule: bool = False) -> str:
    """Return in words what a decision does; what agents are told then concerns the memory `main`."""
    parts = [_ended(each, {}) for each in found.ends]
    parts += [f"stays beside {_quoted(each)}, which it contradicts: both stay active" for each in found.beside]
    if found.successor is not None:
        parts.append(f"becomes history, since {_quoted(found.successor)} was said later")
    else:
        parts.append(_shown(found.shown.get(main, ())))
        if is_rule:
            parts.append("every agent of this user is told to obey it")
    return "; ".join(parts)


def _ended(ended: ClosedMemory, sides: Mapping[UUID, str]) -> str:
    side = sides.get(ended.memory.id)
    quoted = side or _quoted(ended.memory)
    if ended.status is Status.SUPERSEDED:
        return f"{side or f'replaces {quoted}, which'} ends on {ended.at:%Y-%m-%d}"
    if ended.status is Status.ACTIVE:
        return f"{quoted} stays active until {ended.at:%Y-%m-%d}"
    return f"{quoted} is {ended.status.value}"


def _quoted(memory: StoredMemory) -> str:
    return f"“{shortened(memory.content)}” ({memory.status.value.replace('_', ' ')}, {memory.confidence:.2f})"


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


def load_review_item(memory: Memory, *, policy: Policy, now: datetime, is_group: bool = False) -> dict[str, Any]:
    """Load a memory with everything that a decision needs, for its page.

    What a decision about a group changes is told for each member, not here.
    """
    links, similar = _links(memory), _similar(memory, policy)
    repeats = next((each["memory"] for each in similar if each["is_repeat"]), None)
    consequences: dict[str, str] = {}
    replaceable: Sequence[StoredMemory] = ()
    if memory.status == Status.PENDING_REVIEW and not is_group:
        contradicts = [each["memory"].pk for each in links if each["link"].kind == LinkKind.CONTRADICTS]
        merge_into = repeats.pk if repeats else None
        consequences, replaceable = review_options(
            memory, contradicts=contradicts, merge_into=merge_into, policy=policy, now=now
        )
    changes, comments = changes_of(memory), comments_on(memory)
    reasons = rejection_reasons(changes)
    names = names_of([*(each.actor for each in changes), *(each.author for each in comments)])
    # Nobody has approved it if the latest decision was undone, or is long ago.
    decided = next((each for each in changes if each.operation in APPROVALS or each.operation == UNDONE), None)
    return {
        "memory": memory,
        "is_asserted": is_asserted(memory),
        "changes": possible_changes(Status(memory.status)),
        "evidence": load_evidence(memory),
        "links": links,
        "similar": similar,
        "repeats": repeats,  # the memory that this one probably repeats, into which one key may merge it
        "history": [
            {"change": each, "what": change_text(each), "reason": reasons.get(each.pk, "")} for each in changes
        ],
        "comments": comments,
        "names": names,
        "approved_by": names[decided.actor] if decided and decided.operation in APPROVALS else "",
        "is_uncertain": bool(decided and change_text(decided).endswith(UNCERTAIN)),
        "lineage": load_lineage(memory),
        "consequences": consequences,
        "replaceable": replaceable,
    }


def load_evidence(memory: Memory) -> list[tuple[MemoryOrigin, list[Turn]]]:
    """Return the latest quotes of a memory, each with the turns around it (two queries)."""
    origins = (
        MemoryOrigin.objects.standing()
        .filter(end_user_id=memory.end_user_id, memory=memory)
        .select_related("turn", "session")
    )
    latest = list(origins.order_by("-said_at")[:MAX_ORIGINS])
    if not latest:
        return []
    around = Q()
    for turn in (origin.turn for origin in latest):
        positions = (turn.position - CONTEXT_TURNS, turn.position + CONTEXT_TURNS)
        around |= Q(session_id=turn.session_id, position__range=positions)
    context = list(Turn.objects.filter(around, end_user_id=memory.end_user_id).order_by("session_id", "position"))
    evidence = []
    for origin in latest:
        session, place = origin.turn.session_id, origin.turn.position
        near = (each for each in context if abs(each.position - place) <= CONTEXT_TURNS)
        evidence.append((origin, [each for each in near if each.session_id == session]))
    return evidence


def _links(memory: Memory) -> list[dict[str, Any]]:
    """Return the memories that are linked as a conflict or possible duplicate, and how they were compared."""
    links = MemoryLink.objects.filter(
        Q(from_memory=memory) | Q(to_memory=memory), end_user_id=memory.end_user_id, status=LinkStatus.OPEN
    ).select_related("from_memory", "to_memory")
    heavy = [f"{side}__{field}" for side in ("from_memory", "to_memory") for field in ("terms", "context_terms")]
    found = list(links.defer(*heavy))
    comparisons = load_comparisons(found)
    return [
        {
            "link": link,
            "memory": link.to_memory if link.from_memory_id == memory.pk else link.from_memory,
            "comparison": comparisons.get(link.pk),
        }
        for link in found
    ]


def _similar(memory: Memory, policy: Policy) -> list[dict[str, Any]]:
    """Return live memories with a similar content, the nearest first.

    One with the same predicate and polarity, similar enough not to be different, probably says the same (`is_repeat`).
    """
    own = MemoryVector.objects.filter(end_user_id=memory.end_user_id, memory=memory).first()
    if own is None:
        return []
    others = Memory.objects.for_end_user(memory.end_user_id).live().filter(private_to=memory.private_to)
    near = (
        others.exclude(pk=memory.pk)
        .filter(vectors__end_user_id=memory.end_user_id, vectors__embedder=own.embedder)
        .annotate(distance=MaxInnerProduct("vectors__embedding", own.embedding))
        .order_by("distance")
        .to_show()
    )
    unsure = policy.dedupe.band(embedder=own.embedder).unsure
    said = (memory.predicate, memory.polarity)
    return [
        {
            "memory": row,
            "cosine": -row.distance,
            "is_repeat": -row.distance >= unsure and bool(memory.predicate) and (row.predicate, row.polarity) == said,
        }
        for row in near[:MAX_SIMILAR]
        if -row.distance >= MIN_SIMILARITY
    ]
