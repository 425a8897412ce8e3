"""The model extractor: one call finds, types, judges and grounds the statements in the waiting turns of a session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from apps.pipeline.core.draft import Draft, Ending
from apps.pipeline.core.model_calls import (
    CUT_OFF,
    AnswerKind,
    ModelAnswer,
    ModelCallRecord,
    ModelFailed,
    ModelRequest,
    StopReason,
    call_of,
    cut_off,
    failed_call,
    unusable,
    used_tokens,
)
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.llm.answer import Parsed, parse
from apps.pipeline.extraction.llm.candidates import Judge, Shown, moment_of, propose
from apps.pipeline.extraction.llm.relevance import memories_to_show
from apps.pipeline.extraction.windows import CandidateRefusal, ExtractionResult, Window, windows_of
from apps.pipeline.prompts import extract as prompt
from apps.pipeline.prompts.sections import ShownTurn, numbered

SHOWN_INVALID = 5  # invalid objects that a span shows
OBJECT_CHARACTERS = 300  # of each invalid object


@dataclass(frozen=True, slots=True)
class Reply:
    """The result of the one or two calls for a window."""

    window: Window
    parsed: Parsed
    calls: tuple[ModelCallRecord, ...]
    proposals: tuple[Candidate | CandidateRefusal, ...] = ()
    invalid: tuple[dict[str, str], ...] = ()
    ignored: tuple[dict[str, str], ...] = ()
    to_forget: tuple[UUID, ...] = ()
    to_end: tuple[Ending, ...] = ()

    @property
    def notes(self) -> dict[str, Any]:
        """Return the details for the span."""
        return {
            "answer": self.parsed.kind.value,
            "new_turns": len(self.window.new),
            "shown_turns": len(self.window.shown),
            "objects": len(self.parsed.objects),
            "invalid": len(self.invalid),
            "passed_over": self.parsed.passed_over,
            "calls": len(self.calls),
            "examples_of_invalid": list(self.invalid[:SHOWN_INVALID]),
            "ignored": list(self.ignored[:SHOWN_INVALID]),
        }


def extract(asked: Sequence[Draft], *, model: Model, ports: Ports) -> list[ExtractionResult]:
    """Ask the model about the turns of a session's requests; return the statements of each request's own turns.

    A call for several requests is recorded with the first of them. Raises ModelFailed.
    """
    if not any(each.turns for each in asked):
        return [ExtractionResult() for _ in asked]
    draft, policy = asked[0], asked[0].policy.extraction
    entities, memories = memories_to_show(draft, [turn for each in asked for turn in each.turns], ports)
    known = Shown(turns=(), entities=numbered("e", entities), memories=numbered("m", memories))
    topics = {turn.id: each.request.topic for each in asked for turn in each.turns}
    replies: list[Reply] = []
    for window in windows_of(asked, policy=policy):
        new = {turn.id for turn in window.new}
        turns = [
            ShownTurn(id=f"t{number}", turn=turn, is_new=turn.id in new, topic=topics.get(turn.id, ""))
            for number, turn in enumerate(window.shown, start=1)
        ]
        shown = replace(known, turns=turns)
        request = prompt.render(turns=turns, entities=shown.entities, memories=shown.memories, policy=policy)
        try:
            answer, parsed, calls = ask_up_to_twice(request, model=model)
        except ModelFailed as failure:
            failure.calls = (*(call for reply in replies for call in reply.calls), *failure.calls)
            raise
        judge = Judge(model=answer.model, policy=policy, own_reliability=answer.reliability)
        replies.append(_read(Reply(window, parsed, calls), shown, judge, ports.new_id))
    found = []
    for each in asked:
        own = {turn.id for turn in each.turns}
        ours = [reply for reply in replies if any(turn.id in own for turn in reply.window.new)]
        last = [reply for reply in ours if reply.window.new[-1].id in own]
        proposals = [proposal for reply in ours for proposal in reply.proposals]
        refused = (proposal for proposal in proposals if isinstance(proposal, CandidateRefusal))
        candidates = (proposal for proposal in proposals if isinstance(proposal, Candidate))
        failures = (failure_of(reply.parsed, reply.calls[-1]) for reply in ours)
        result = ExtractionResult(
            candidates=tuple(candidate for candidate in candidates if candidate.source_turn_ids[0] in own),
            refused=tuple(refusal for refusal in refused if refusal.candidate.source_turn_ids[0] in own),
            calls=tuple(call for reply in ours if reply.window.new[0].id in own for call in reply.calls),
            notes={"calls": [reply.notes for reply in ours]},
            windows={turn.id: number for number, reply in enumerate(ours) for turn in reply.window.new},
            to_forget=tuple(memory_id for reply in last for memory_id in reply.to_forget),
            to_end=tuple(ending for reply in last for ending in reply.to_end),
            failure=next(filter(None, failures), ""),
            shown_memories=frozenset(memory.id for memory in memories),
        )
        found.append(result)
    return found


def ask_up_to_twice(request: ModelRequest, *, model: Model) -> tuple[ModelAnswer, Parsed, tuple[ModelCallRecord, ...]]:
    """Call the model, and once more if the answer was not JSON, or with twice the limit if it was cut off before it."""
    answer, parsed, call = _ask_once(request, model=model)
    if not call.error or parsed.kind is AnswerKind.REFUSED:
        return answer, parsed, (call,)
    used = used_tokens(request, answer) if answer.stop is StopReason.TRUNCATED else None
    answer, parsed, second = _ask_once(prompt.asked_again(request, used_tokens=used), model=model, before=(call,))
    return answer, parsed, (call, second)


def _ask_once(
    request: ModelRequest, *, model: Model, before: tuple[ModelCallRecord, ...] = ()
) -> tuple[ModelAnswer, Parsed, ModelCallRecord]:
    """Call the model; a failure has the records of its call and of those before it. Raises ModelFailed."""
    try:
        answer = model.complete(request)
    except ModelFailed as failure:
        failure.calls = (*before, failed_call(request, failure)) if failure.is_recorded else before
        raise
    parsed = parse(answer)
    call = call_of(request, answer, kind=parsed.kind)
    is_lost = not parsed.objects and parsed.kind in (AnswerKind.TRUNCATED, AnswerKind.UNPARSABLE)
    if answer.stop is StopReason.TRUNCATED and is_lost:
        return answer, parsed, replace(call, error=cut_off(request, answer))
    return answer, parsed, call


def _read(reply: Reply, shown: Shown, judge: Judge, new_id: Callable[[], UUID]) -> Reply:
    """Convert the objects of an answer; later ones may refer to earlier ones as a1, a2 and so on."""
    proposals: list[Candidate | CandidateRefusal] = []
    invalid: list[dict[str, str]] = []
    ignored: list[dict[str, str]] = []
    answered: dict[str, Candidate] = {}
    for number, proposed in enumerate(reply.parsed.objects, start=1):
        try:
            proposal = propose(proposed, shown=replace(shown, answered=answered), judge=judge)
        except ValueError as error:
            invalid.append({"why": str(error)[:200], "object": ascii(proposed)[:OBJECT_CHARACTERS]})
            continue
        outcome = proposal.outcome
        if isinstance(outcome, Candidate):
            outcome = answered[f"a{number}"] = outcome.evolve(memory_id=new_id())
        proposals.append(outcome)
        if proposal.ignored:
            what = ", ".join(proposal.ignored)
            ignored.append({"what": what[:OBJECT_CHARACTERS], "object": ascii(proposed)[:OBJECT_CHARACTERS]})
    endings: list[Ending] = []
    ends = dict(reply.parsed.ends)
    for id, memory in shown.memories.items():
        if id in ends:
            try:
                on = moment_of(ends[id])[0] if ends[id] else None
            except ValueError:  # a day that can't be read is left out
                on = None
            endings.append(Ending(memory.id, on))
    *before, last = reply.calls
    return replace(
        reply,
        calls=(*before, replace(last, invalid_objects=len(invalid))),
        proposals=tuple(proposals),
        invalid=tuple(invalid),
        ignored=tuple(ignored),
        to_forget=tuple(memory.id for id, memory in shown.memories.items() if id in reply.parsed.forget),
        to_end=tuple(endings),
    )


def failure_of(parsed: Parsed, call: ModelCallRecord) -> str:
    """Return why an answer can't be used; "" if it can."""
    if parsed.kind.is_usable and not call.error:
        return ""
    return call.error if call.error.startswith(CUT_OFF) else unusable(parsed.kind)
