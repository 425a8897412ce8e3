"""The look back on a session: one call over its turns, whose finds are inferred and say so."""

from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import INFERRED, MemoryType, Reason, SourceConfidence
from apps.pipeline.core.input_validation import check_json, cleaned_text
from apps.pipeline.core.model_calls import call_of
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.core.statement import Candidate, ObjectValue
from apps.pipeline.extraction.extraction_result import CandidateRefusal, ExtractionResult
from apps.pipeline.extraction.llm import evidence
from apps.pipeline.extraction.llm.answer_parser import Parsed, parse
from apps.pipeline.extraction.llm.candidates import Judge, Shown, UnknownId, speaker_mention
from apps.pipeline.extraction.llm.extractor import complete, shown_context
from apps.pipeline.extraction.windows import TurnsToExtract
from apps.pipeline.prompts import session as prompt
from apps.pipeline.prompts.sections import ShownTurn
from apps.pipeline.prompts.session import SessionKind, SessionMemoryAnswer

_PREDICATES = {
    SessionKind.ARC: "is_going_through",
    SessionKind.GOAL: "has_goal",
    SessionKind.SUMMARY: "talked_about",
}


def extract(draft: Draft, *, model: Model, ports: Ports) -> ExtractionResult:
    """Ask the model what the request's turns show together. Raises ModelFailed."""
    policy = draft.policy.extraction
    known = shown_context([TurnsToExtract(draft=draft, turns=draft.turns)], ports)
    new = {turn.id for turn in draft.turns}
    turns = [ShownTurn(f"t{n}", turn, turn.id in new) for n, turn in enumerate(draft.request.turns, start=1)]
    request = prompt.render(turns=turns, entities=known.entities, memories=known.memories, policy=policy)
    answer = complete(request, model=model)
    parsed = parse(answer)
    if not parsed.kind.is_usable:
        return ExtractionResult(
            calls=(call_of(request, answer, kind=parsed.kind),), failure=f"the answer was {parsed.kind}"
        )
    shown = Shown(turns=turns, entities=known.entities, memories=known.memories)
    judge = Judge(model=answer.model, policy=policy, own_reliability=answer.reliability)
    proposals = _proposals(parsed, shown=shown, judge=judge)
    invalid = len(parsed.objects) - len(proposals)
    return ExtractionResult(
        candidates=tuple(each for each in proposals if isinstance(each, Candidate)),
        refused=tuple(each for each in proposals if isinstance(each, CandidateRefusal)),
        calls=(call_of(request, answer, kind=parsed.kind, invalid_objects=invalid),),
        shown_memories=frozenset(each.memory.id for each in known.memories),
        notes={"answer": parsed.kind.value, "objects": len(parsed.objects), "invalid": invalid},
    )


def _proposals(parsed: Parsed, *, shown: Shown, judge: Judge) -> list[Candidate | CandidateRefusal]:
    """Propose what can be proposed; an object that is no memory is passed over."""
    proposals = []
    for proposed in parsed.objects:
        with suppress(ValueError):
            proposals.append(_propose(proposed, shown=shown, judge=judge))
    return proposals


def _propose(proposed: Any, *, shown: Shown, judge: Judge) -> Candidate | CandidateRefusal:
    """Turn one object into a candidate, with index 0. Raises ValueError."""
    check_json(proposed)
    try:
        answer = SessionMemoryAnswer.model_validate(proposed)
    except ValidationError as error:
        raise ValueError(str(error)[:200]) from error
    named = [shown.turn(name) for name in answer.source_turn_ids]
    if None in named:
        raise UnknownId("source_turn_ids")
    source = evidence.said_in(answer.evidence, turns=shown.sources)
    told = source or shown.sources[-1]
    cited = [turn.id for turn in shown.sources if turn in named or turn is told]
    candidate = Candidate(
        index=0,
        type=MemoryType.FACT,
        subject=speaker_mention(told),
        predicate=_PREDICATES[answer.kind],
        object=ObjectValue(),
        content=cleaned_text(" ".join(answer.content.split()), at="content", most=1_000),
        source_turn_ids=tuple(cited),
        evidence=answer.evidence.strip(),
        extractor=judge.model[:120],
        reliability=judge.reliability,
        source_confidence=SourceConfidence.INFERRED,
        importance=answer.importance,
        topic=answer.topic.strip().lower(),
        tags=(answer.kind.value, INFERRED),
    )
    return candidate if source else CandidateRefusal(candidate, Reason.NOT_SUPPORTED, "the quote was not said")
