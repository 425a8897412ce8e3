"""What each decision about a memory would change, in words: shown before a person decides."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from apps.actions.review.services import review_context, review_contexts
from apps.console.selectors.settlements import keeping, older_first
from apps.memories.models import Memory, MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution, Stakes, Status
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
    lines = [_line("Approve", approval, main=memory.pk)]
    if approval.beside:
        replacing = Approve(memory.pk, replaces=frozenset(each.id for each in approval.beside))
        lines.append(_line("Approve and replace", consequences_of(replacing, context=context, now=now), main=memory.pk))
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
    return {
        id: _line("Approve", consequences_of(Approve(id), context=context, now=now), main=id).text
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
        shown = [f"{name} is {_shown(found.shown[id])}" for id, name in sides.items() if id in found.shown]
        ends = [_ended(each, sides) for each in found.ends]
        lines.append(ConsequenceLine(label, "; ".join([*ends, *shown]) or "nothing changes"))
    return tuple(lines)


_RESOLUTIONS: Mapping[str, LinkResolution] = {
    "It changed": LinkResolution.CHANGED,
    "Both are true": LinkResolution.BOTH,
    "Same": LinkResolution.MERGED,
}
_OF_DUPLICATES: Mapping[str, LinkResolution] = {"Same": LinkResolution.MERGED, "Both hold": LinkResolution.BOTH}


def _line(name: str, found: Consequences, *, main: UUID, lead: str = "") -> ConsequenceLine:
    parts = [lead] if lead else []
    parts += [_ended(each, {}) for each in found.ends]
    parts += [f"stays beside {_quoted(each)}, which it contradicts: both stay active" for each in found.beside]
    if found.successor is not None:
        parts.append(f"becomes history, since {_quoted(found.successor)} was said later")
    else:
        parts.append(_shown(found.shown.get(main, ())))
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
        return "not shown to agents"
    if len(stakes) == len(Stakes):
        return "shown to agents at all stakes"
    return f"shown to agents at {' and '.join(stakes)} stakes{' only' if len(stakes) == 1 else ''}"
