"""The model extractor: one call finds, types, judges and grounds the statements in the waiting turns of a session."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from apps.pipeline.core.model_calls import (
    AnswerKind,
    ModelAnswer,
    ModelCallRecord,
    ModelFailed,
    ModelRequest,
    call_of,
    failed_call,
    unusable,
)
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.ports import Ids, Model, Ports
from apps.pipeline.core.statement import Candidate
from apps.pipeline.extraction.extraction_result import CandidateRefusal, ExtractionResult
from apps.pipeline.extraction.llm.answer_parser import Parsed, parse
from apps.pipeline.extraction.llm.candidates import Judge, Shown, propose
from apps.pipeline.extraction.llm.relevance import memories_to_show
from apps.pipeline.extraction.windows import TurnsToExtract, Window, windows_of
from apps.pipeline.prompts import extract as prompt
from apps.pipeline.prompts.sections import (
    ShownEntity,
    ShownMemory,
    ShownTurn,
    numbered_entities,
    numbered_memories,
)

SHOWN_INVALID = 5  # invalid objects that a span shows
OBJECT_CHARACTERS = 300  # of each invalid object


@dataclass(frozen=True, slots=True)
class ShownContext:
    """The known entities and memories in a prompt."""

    entities: tuple[ShownEntity, ...]
    memories: tuple[ShownMemory, ...]


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


def extract(asked: Sequence[TurnsToExtract], *, model: Model, ports: Ports) -> list[ExtractionResult]:
    """Ask the model about the turns of a session's requests; return the statements of each request's own turns.

    A call for several requests is recorded with the first of them. Raises ModelFailed.
    """
    if not any(each.turns for each in asked):
        return [ExtractionResult() for _ in asked]
    policy = asked[0].draft.policy.extraction
    known = shown_context(asked, ports)
    replies: list[Reply] = []
    topics = {turn.id: each.draft.request.topic for each in asked for turn in each.turns}
    for window in windows_of(asked, policy=policy):
        turns = _shown_turns(window, topics)
        try:
            replies.append(_ask(window, turns, known, model, policy, ports.ids))
        except ModelFailed as failure:
            failure.calls = (*(call for reply in replies for call in reply.calls), *failure.calls)
            raise
    shown = frozenset(each.memory.id for each in known.memories)
    return [_found(each, replies).evolve(shown_memories=shown) for each in asked]


def shown_context(asked: Sequence[TurnsToExtract], ports: Ports) -> ShownContext:
    """Read the known entities and the memories that matter for the new turns."""
    draft, policy = asked[0].draft, asked[0].draft.policy.extraction
    turns = [turn for each in asked for turn in each.turns]
    entities, memories = memories_to_show(draft, turns, ports, most=policy.max_recent_memories)
    return ShownContext(entities=numbered_entities(entities), memories=numbered_memories(memories))


def _shown_turns(window: Window, topics: Mapping[UUID, str]) -> list[ShownTurn]:
    new = {turn.id for turn in window.new}
    return [
        ShownTurn(id=f"t{number}", turn=turn, is_new=turn.id in new, topic=topics.get(turn.id, ""))
        for number, turn in enumerate(window.shown, start=1)
    ]


def _ask(
    window: Window, turns: Sequence[ShownTurn], known: ShownContext, model: Model, policy: ExtractionPolicy, ids: Ids
) -> Reply:
    """Call the model, and once more if the answer was not JSON."""
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
    shown = Shown(turns=turns, entities=known.entities, memories=known.memories)
    judge = Judge(model=answer.model, policy=policy, own_reliability=answer.reliability)
    return _read(Reply(window, parsed, calls), shown, judge, ids)


def complete(request: ModelRequest, *, model: Model, before: tuple[ModelCallRecord, ...] = ()) -> ModelAnswer:
    """Call the model; a failure has the records of its call and of those before it. Raises ModelFailed."""
    try:
        return model.complete(request)
    except ModelFailed as failure:
        failure.calls = (*before, failed_call(request, failure)) if failure.is_recorded else before
        raise


def _read(reply: Reply, shown: Shown, judge: Judge, ids: Ids) -> Reply:
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
            outcome = answered[f"a{number}"] = outcome.evolve(memory_id=ids.new())
        proposals.append(outcome)
        if proposal.ignored:
            what = ", ".join(proposal.ignored)
            ignored.append({"what": what[:OBJECT_CHARACTERS], "object": ascii(proposed)[:OBJECT_CHARACTERS]})
    asked = {each.strip().lower() for each in reply.parsed.forget}
    to_forget = tuple(each.memory.id for each in shown.memories if each.id in asked)
    *before, last = reply.calls
    calls = (*before, replace(last, invalid_objects=len(invalid)))
    return Reply(reply.window, reply.parsed, calls, tuple(proposals), tuple(invalid), tuple(ignored), to_forget)


def _found(asked: TurnsToExtract, replies: Sequence[Reply]) -> ExtractionResult:
    """Return the parts of the replies that belong to one request."""
    own = {turn.id for turn in asked.turns}
    ours = [reply for reply in replies if any(turn.id in own for turn in reply.window.new)]
    failed = [reply for reply in ours if not reply.parsed.kind.is_usable]
    proposals = [each for reply in ours for each in reply.proposals if _turn_of(each) in own]
    return ExtractionResult(
        candidates=tuple(each for each in proposals if isinstance(each, Candidate)),
        refused=tuple(each for each in proposals if isinstance(each, CandidateRefusal)),
        calls=tuple(call for reply in ours if reply.window.new[0].id in own for call in reply.calls),
        notes={"calls": [reply.notes for reply in ours]},
        windows={turn.id: number for number, reply in enumerate(ours) for turn in reply.window.new},
        to_forget=tuple(each for reply in ours if reply.window.new[-1].id in own for each in reply.to_forget),
        failure=unusable(failed[0].parsed.kind) if failed else "",
    )


def _turn_of(proposal: Candidate | CandidateRefusal) -> object:
    candidate = proposal.candidate if isinstance(proposal, CandidateRefusal) else proposal
    return candidate.source_turn_ids[0]
