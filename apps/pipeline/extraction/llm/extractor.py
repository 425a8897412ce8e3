"""The model extractor: one call that filters, types, judges and grounds, shared by the queued turns of a session."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from apps.pipeline.core.draft import Candidate, Draft, KnownMemory, SourceTurn
from apps.pipeline.core.model_calls import (
    AnswerKind,
    ModelAnswer,
    ModelCallRecord,
    ModelFailed,
    ModelRequest,
    call_of,
    failed_call,
)
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.ports import MemoryReader, Model
from apps.pipeline.extraction.extraction_result import CandidateRefusal, ExtractionResult
from apps.pipeline.extraction.llm.answer_parser import Parsed, parse
from apps.pipeline.extraction.llm.candidates import Judge, Shown, propose
from apps.pipeline.extraction.windows import TurnsToExtract, Window, windows_of
from apps.pipeline.prompts import extract as prompt
from apps.pipeline.prompts.sections import ShownEntity, ShownTurn

SHOWN_INVALID = 5  # objects that were no memories, which a span shows
OBJECT_CHARACTERS = 300  # of each of them


@dataclass(frozen=True, slots=True)
class ShownContext:
    """What a prompt tells of the end user."""

    entities: tuple[ShownEntity, ...]
    memories: tuple[KnownMemory, ...]


@dataclass(frozen=True, slots=True)
class Reply:
    """What one window's call, or two, came to."""

    window: Window
    parsed: Parsed
    calls: tuple[ModelCallRecord, ...]
    proposals: tuple[Candidate | CandidateRefusal, ...] = ()
    invalid: tuple[dict[str, str], ...] = field(default=())

    @property
    def notes(self) -> dict[str, Any]:
        """Return what the span shows."""
        return {
            "answer": self.parsed.kind.value,
            "new_turns": len(self.window.new),
            "shown_turns": len(self.window.shown),
            "objects": len(self.parsed.objects),
            "invalid": len(self.invalid),
            "passed_over": self.parsed.passed_over,
            "calls": len(self.calls),
            "examples_of_invalid": list(self.invalid[:SHOWN_INVALID]),
        }


def extract(asked: Sequence[TurnsToExtract], *, model: Model, reader: MemoryReader) -> list[ExtractionResult]:
    """Ask the model about the turns of a session's requests, and give each request what its own turns say.

    A call that serves several requests is recorded with the first of them. Raises ModelFailed.
    """
    if not any(each.turns for each in asked):
        return [ExtractionResult() for _ in asked]
    policy = asked[0].draft.policy.extraction
    known = shown_context(asked[0].draft, reader, policy)
    replies: list[Reply] = []
    for window in windows_of(asked, policy=policy):
        try:
            replies.append(_ask(window, known, model, policy))
        except ModelFailed as failure:
            failure.calls = (*(call for reply in replies for call in reply.calls), *failure.calls)
            raise
    return [_found(each, replies) for each in asked]


def shown_context(draft: Draft, reader: MemoryReader, policy: ExtractionPolicy) -> ShownContext:
    """Read what a prompt tells of the end user, in one round trip."""
    entities, memories = reader.known(
        end_user_id=draft.request.origin.end_user_id,
        entities=policy.max_entities,
        memories=policy.max_recent_memories,
    )
    shown = tuple(ShownEntity(id=f"e{n}", entity=each) for n, each in enumerate(entities, start=1))
    return ShownContext(entities=shown, memories=memories)


def _ask(window: Window, known: ShownContext, model: Model, policy: ExtractionPolicy) -> Reply:
    """Call the model; once more where the answer was no JSON."""
    new = {turn.id for turn in window.new}
    turns = [
        ShownTurn(id=f"t{number}", turn=turn, is_new=turn.id in new)
        for number, turn in enumerate(window.shown, start=1)
    ]
    calls: tuple[ModelCallRecord, ...] = ()
    for again in (False, True):
        request = prompt.render(
            turns=turns, entities=known.entities, memories=known.memories, policy=policy, again=again
        )
        answer = complete(request, model=model, before=calls)
        parsed = parse(answer)
        calls = (*calls, call_of(request, answer, kind=parsed.kind))
        if parsed.kind is not AnswerKind.UNPARSABLE:
            break
    shown = Shown(turns=turns, entities=known.entities)
    judge = Judge(model=answer.model, policy=policy, own_reliability=answer.reliability)
    return _read(Reply(window, parsed, calls), shown, judge)


def complete(request: ModelRequest, *, model: Model, before: tuple[ModelCallRecord, ...] = ()) -> ModelAnswer:
    """Ask the model; a failure carries the record of its call and of those before it. Raises ModelFailed."""
    try:
        return model.complete(request)
    except ModelFailed as failure:
        failure.calls = (*before, failed_call(request, failure)) if failure.is_recorded else before
        raise


def _read(reply: Reply, shown: Shown, judge: Judge) -> Reply:
    proposals: list[Candidate | CandidateRefusal] = []
    invalid: list[dict[str, str]] = []
    for proposed in reply.parsed.objects:
        try:
            proposals.append(propose(proposed, shown=shown, judge=judge))
        except ValueError as error:
            invalid.append({"why": str(error)[:200], "object": ascii(proposed)[:OBJECT_CHARACTERS]})
    *before, last = reply.calls
    calls = (*before, replace(last, invalid_objects=len(invalid)))
    return Reply(reply.window, reply.parsed, calls, tuple(proposals), tuple(invalid))


def _found(asked: TurnsToExtract, replies: Sequence[Reply]) -> ExtractionResult:
    """Pick out of the replies what belongs to one request."""
    own = {turn.id for turn in asked.turns}
    ours = [reply for reply in replies if any(turn.id in own for turn in reply.window.new)]
    failed = [reply for reply in ours if not reply.parsed.kind.is_usable]
    proposals = [each for reply in ours for each in reply.proposals if _turn_of(each) in own]
    return ExtractionResult(
        candidates=tuple(each for each in proposals if isinstance(each, Candidate)),
        refused=tuple(each for each in proposals if isinstance(each, CandidateRefusal)),
        calls=tuple(call for reply in ours if _first(reply.window).id in own for call in reply.calls),
        notes={"calls": [reply.notes for reply in ours]},
        failure=f"the answer was {failed[0].parsed.kind}" if failed else "",
    )


def _first(window: Window) -> SourceTurn:
    return window.new[0]


def _turn_of(proposal: Candidate | CandidateRefusal) -> object:
    candidate = proposal.candidate if isinstance(proposal, CandidateRefusal) else proposal
    return candidate.source_turn_ids[0]
