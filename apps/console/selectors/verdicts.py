"""Why a turn was, or was not, remembered: one answer a turn."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.console.selectors.reasons import explain
from apps.console.selectors.traces import lines_of
from apps.memories.models import Memory
from apps.pipeline.core.enums import Outcome, Stage, Status, TraceStatus
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.traces.models import Span, Turn

_WAITING = {
    TraceStatus.QUEUED: "Not yet: it waits for a worker.",
    TraceStatus.DEAD: "Its work was given up",
    TraceStatus.EXTRACTION_FAILED: "No answer of the model could be used",
}
_SINCE = {
    Status.ACTIVE: "and an agent is told it.",
    Status.PENDING_REVIEW: "but it waits for a person, and no agent is told it before.",
    Status.SUPERSEDED: "and has been superseded by something newer since.",
    Status.REJECTED: "but a person rejected it.",
    Status.RETRACTED: "but it was retracted.",
    Status.MERGED: "and was merged into another memory since.",
    Status.ARCHIVED: "and was archived since.",
}


@dataclass(frozen=True, slots=True)
class Said:
    """One sentence of an answer, with the memory or candidate that it is about."""

    text: str
    tone: str  # good, wait, bad or calm
    about: str = ""
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """A turn with the answer."""

    turn: Turn
    sentences: list[Said]


def verdicts(turns: Iterable[Turn]) -> list[Verdict]:
    """Answer for turns that were read with their traces; two statements more."""
    shown = list(turns)
    matched, memories = _matched(shown), _memories(shown)
    return [Verdict(turn, _sentences(turn, matched.get(turn.pk, ""), memories)) for turn in shown]


def _sentences(turn: Turn, matched: str, memories: Mapping[UUID, Memory]) -> list[Said]:
    if turn.rejected_for:
        return [_rejected(turn, matched)]
    status = TraceStatus(turn.trace.status)
    if status in _WAITING:
        error = f": {turn.trace.error}" if turn.trace.error else ""
        return [Said(f"{_WAITING[status]}{error}", "bad" if error else "wait")]
    lines = lines_of(turn.trace, turn)
    return [_line(line, memories) for line in lines] or [Said("Nothing was recorded of it.", "calm")]


def _rejected(turn: Turn, matched: str) -> Said:
    rule = f" The rule “{turn.rejected_by}” decided" if turn.rejected_by else ""
    words = f", by “{matched}”" if rule and matched else ""
    ending = f".{rule}{words}." if rule else "."
    return Said(f"Dropped before extraction: {explain(turn.rejected_for)}{ending}", "bad")


def _line(line: Mapping[str, Any], memories: Mapping[UUID, Memory]) -> Said:
    about = str(line.get("content") or "")
    if line["outcome"] == Outcome.DISCARDED:
        stage = Stage(line["stage"]).value.replace("_", " ")
        if not about:
            return Said(f"Nothing stored: {explain(str(line['reason']))}.", "calm")
        return Said(f"Dropped in {stage}: {explain(str(line['reason']))}.", "bad", about)
    memory = memories.get(_memory_id(line) or UUID(int=0))
    if memory is None:
        return Said("It was stored, and has been erased since.", "calm", about)
    became = "merged into a known memory" if line["outcome"] == Outcome.MERGED else "stored"
    ending = _SINCE[Status(memory.status)]
    tone = {Status.ACTIVE: "good", Status.PENDING_REVIEW: "wait"}.get(Status(memory.status), "calm")
    return Said(f"It was {became}, {ending}", tone, memory.content, memory)


def _memory_id(line: Mapping[str, Any]) -> UUID | None:
    try:
        return parse(Prefix.MEMORY, str(line.get("memory_id") or ""))
    except BadIdentifier:
        return None


def _memories(turns: list[Turn]) -> dict[UUID, Memory]:
    """Read the memories that the turns' outcomes name."""
    ids = {found for turn in turns for line in lines_of(turn.trace, turn) if (found := _memory_id(line))}
    users = {turn.end_user_id for turn in turns}
    return {memory.pk: memory for memory in Memory.objects.filter(end_user_id__in=users, pk__in=ids)}


def _matched(turns: list[Turn]) -> dict[UUID, str]:
    """Read what the rules matched of the turns that they dropped."""
    dropped = [turn for turn in turns if turn.rejected_by]
    spans = Span.objects.filter(
        end_user_id__in={turn.end_user_id for turn in dropped},
        trace_id__in={turn.trace_id for turn in dropped},
        stage=Stage.PRE_FILTER,
    )
    drops = [drop for span in spans for drop in span.details.get("drops", ())]
    return {UUID(drop["turn"]): drop.get("matched", "") for drop in drops}
