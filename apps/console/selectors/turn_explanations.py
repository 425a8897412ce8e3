"""Why a turn was or was not remembered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from apps.console.labels import count_of, label
from apps.console.selectors.reasons import explain
from apps.console.selectors.traces import outcomes_of
from apps.memories.models import Memory
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import Outcome, Stage, Status, TraceStatus, WorkState
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.traces.models import Span, Turn

_UNFINISHED = {
    TraceStatus.QUEUED: "Not processed yet: waiting for a worker.",  # unless _delays knows more
    TraceStatus.DEAD: "Processing failed",
    TraceStatus.ROLLED_BACK: "Rolled back: what it wrote was taken back.",
    TraceStatus.EXTRACTION_FAILED: "Extraction failed: the model returned no usable answer",
}
_STATUS_ENDINGS = {
    Status.ACTIVE: "and agents can use it.",
    Status.PENDING_REVIEW: "but it awaits review, and agents can't use it before.",
    Status.SUPERSEDED: "and has since been superseded by a newer memory.",
    Status.REJECTED: "but a reviewer rejected it.",
    Status.RETRACTED: "but it was retracted.",
    Status.MERGED: "and has since been merged into another memory.",
    Status.ARCHIVED: "and has since been archived.",
}


@dataclass(frozen=True, slots=True)
class ExplanationSentence:
    """One sentence of an explanation, with the memory or candidate that it is about."""

    text: str
    tone: str  # good, wait, bad or calm
    about: str = ""
    memory: Memory | None = None


@dataclass(frozen=True, slots=True)
class TurnExplanation:
    """A turn with its explanation."""

    turn: Turn
    sentences: list[ExplanationSentence]


def explain_turns(turns: Iterable[Turn]) -> list[TurnExplanation]:
    """Explain turns that were read with their traces (three more queries)."""
    shown = list(turns)
    matched = _matched(shown)
    lines = [line for turn in shown for line in outcomes_of(turn.trace, turn)]
    ids = {found for line in lines if (found := _memory_id(line))}
    rows = Memory.objects.filter(end_user_id__in={turn.end_user_id for turn in shown}, pk__in=ids)
    memories = {memory.pk: memory for memory in rows}
    delays = _delays(shown)
    return [
        TurnExplanation(turn, [delays[turn.trace_id]])
        if turn.trace_id in delays and not turn.rejected_for
        else TurnExplanation(turn, _sentences(turn, matched.get(turn.pk, ""), memories))
        for turn in shown
    ]


def _delays(turns: Iterable[Turn]) -> dict[UUID, ExplanationSentence]:
    """Return why queued traces wait, by trace, where an attempt has failed or what it needs does not answer."""
    queued = {turn.trace_id: turn.end_user_id for turn in turns if turn.trace.status == TraceStatus.QUEUED}
    rows = OutboxRow.objects.filter(end_user_id__in=queued.values(), subject_id__in=queued, state=WorkState.PENDING)
    delays = {}
    for row in rows.exclude(last_error="") if queued else ():
        failed = f"{count_of(row.attempts, 'attempt', 'attempts')} failed" if row.attempts else "it waits"
        text = f"Not processed yet: {failed}, next try at {row.run_at:%H:%M:%S} UTC: {row.last_error}"
        delays[row.subject_id] = ExplanationSentence(text, "bad" if row.attempts else "wait")
    return delays


def _sentences(turn: Turn, matched: str, memories: Mapping[UUID, Memory]) -> list[ExplanationSentence]:
    if turn.rejected_for:
        rule = f" Rule “{turn.rejected_by}”" if turn.rejected_by else ""
        words = f" matched “{matched}”" if rule and matched else " decided" if rule else ""
        ending = f".{rule}{words}." if rule else "."
        return [ExplanationSentence(f"Dropped by the pre-filter: {explain(turn.rejected_for)}{ending}", "bad")]
    status = TraceStatus(turn.trace.status)
    if status in _UNFINISHED:
        error = f": {turn.trace.error}" if turn.trace.error else ""
        return [ExplanationSentence(f"{_UNFINISHED[status]}{error}", "bad" if error else "wait")]
    lines = outcomes_of(turn.trace, turn)
    return [_outcome_sentence(line, memories) for line in lines] or [
        ExplanationSentence("No outcome was recorded.", "calm")
    ]


_BECAME = {Outcome.MERGED: "merged into a known memory", Outcome.RETRACTED: "retracted on request"}


def _outcome_sentence(line: Mapping[str, Any], memories: Mapping[UUID, Memory]) -> ExplanationSentence:
    about = str(line.get("content") or "")
    if line["outcome"] == Outcome.DISCARDED:
        stage = label(Stage(line["stage"]))
        if not about:
            return ExplanationSentence(f"Nothing stored: {explain(str(line['reason']))}.", "calm")
        return ExplanationSentence(f"Dropped at stage “{stage}”: {explain(str(line['reason']))}.", "bad", about)
    if line["outcome"] == Outcome.FORGET_ALL_REQUESTED:
        return ExplanationSentence("The user asked to forget everything: nothing was done, a person decides.", "wait")
    memory = memories.get(_memory_id(line) or UUID(int=0))
    if memory is None:
        return ExplanationSentence("It was stored and has since been erased.", "calm", about)
    became = _BECAME.get(Outcome(line["outcome"]), "stored")
    ending = _STATUS_ENDINGS[Status(memory.status)]
    tone = {Status.ACTIVE: "good", Status.PENDING_REVIEW: "wait"}.get(Status(memory.status), "calm")
    return ExplanationSentence(f"It was {became}, {ending}", tone, memory.content, memory)


def _memory_id(line: Mapping[str, Any]) -> UUID | None:
    try:
        return parse(Prefix.MEMORY, str(line.get("memory_id") or ""))
    except BadIdentifier:
        return None


def _matched(turns: list[Turn]) -> dict[UUID, str]:
    """Load the matched texts of turns dropped by rules."""
    dropped = [turn for turn in turns if turn.rejected_by]
    spans = Span.objects.filter(
        end_user_id__in={turn.end_user_id for turn in dropped},
        trace_id__in={turn.trace_id for turn in dropped},
        stage=Stage.PRE_FILTER,
    )
    drops = [drop for span in spans for drop in span.details.get("drops", ())]
    return {UUID(drop["turn"]): drop.get("matched", "") for drop in drops}
