"""Session-level extraction: one call over all turns; its statements are marked as inferred, and expire."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from pydantic import ValidationError

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import INFERRED, MemoryType, Precision, Reason, SourceConfidence
from apps.pipeline.core.input_validation import check_json, cleaned_text
from apps.pipeline.core.model_calls import call_of
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.core.statement import Candidate, ObjectValue
from apps.pipeline.extraction.extraction_result import CandidateRefusal, ExtractionResult
from apps.pipeline.extraction.llm.answer_parser import Parsed, parse
from apps.pipeline.extraction.llm.candidates import Judge, Shown, gives_away_secret, secret_refused, speaker_mention
from apps.pipeline.extraction.llm.evidence import QuotableTurn, find_quote
from apps.pipeline.extraction.llm.extractor import ShownContext, complete
from apps.pipeline.extraction.llm.origin import settle_origin
from apps.pipeline.extraction.llm.relevance import relevance_query
from apps.pipeline.prompts import session as prompt
from apps.pipeline.prompts.sections import ShownTurn, numbered_entities, numbered_memories
from apps.pipeline.prompts.session import SessionKind, SessionMemoryAnswer

_PREDICATES = {
    SessionKind.ARC: "is_going_through",
    SessionKind.GOAL: "has_goal",
}
_OPEN_ENDED = frozenset(_PREDICATES.values())


def extract(draft: Draft, *, model: Model, ports: Ports) -> ExtractionResult:
    """Ask the model what the turns of a session show together. Raises ModelFailed."""
    policy = draft.policy.extraction
    known = _known(draft, ports, policy)
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


def _known(draft: Draft, ports: Ports, policy: ExtractionPolicy) -> ShownContext:
    """Read all memories of the session, and arcs and goals of other sessions, which this one may continue or end."""
    entities, memories = ports.memories.relevant(
        query=relevance_query(draft, draft.turns, ports),
        entities=policy.max_entities,
        memories=policy.max_session_memories,
    )
    session = str(draft.request.origin.session_id)
    relevant = [each for each in memories if each.predicate in _OPEN_ENDED or session in dict(each.origins)]
    return ShownContext(entities=numbered_entities(entities), memories=numbered_memories(relevant))


def _proposals(parsed: Parsed, *, shown: Shown, judge: Judge) -> list[Candidate | CandidateRefusal]:
    """Convert the objects of an answer; invalid objects are skipped."""
    proposals = []
    for proposed in parsed.objects:
        with suppress(ValueError):
            proposals.append(_propose(proposed, shown=shown, judge=judge))
    return proposals


def _propose(proposed: Any, *, shown: Shown, judge: Judge) -> Candidate | CandidateRefusal:
    """Convert one object to a candidate with index 0. Raises ValueError."""
    answer = _read(proposed)
    quotable = [QuotableTurn(turn, shown.before(turn)) for turn in shown.sources]
    quote = find_quote(answer.evidence, turns=quotable)
    said = quote.turn if quote else shown.sources[-1]
    cited = [turn.id for turn in shown.sources if turn is said or turn in map(shown.turn, answer.source_turn_ids)]
    candidate = Candidate(
        index=0,
        type=MemoryType.FACT,
        subject=speaker_mention(said),
        predicate=_PREDICATES[answer.kind],
        object=ObjectValue(),
        content=cleaned_text(" ".join(answer.content.split()), at="content", most=1_000),
        source_turn_ids=tuple(cited),
        evidence=quote.words if quote else answer.evidence.strip(),
        extractor=judge.model[:120],
        reliability=judge.reliability,
        source_confidence=SourceConfidence.INFERRED,
        importance=answer.importance,
        topic=answer.topic.strip().lower(),
        tags=(answer.kind.value, INFERRED),
        replaces=shown.memory_ids(answer.replaces),
        valid_until=said.said_at + timedelta(days=judge.policy.session_memory_days),
        valid_until_precision=Precision.DAY,
    )
    if gives_away_secret(candidate):
        return secret_refused(candidate)
    if not quote:
        return CandidateRefusal(candidate, Reason.NOT_SUPPORTED, "the quote was not said")
    return settle_origin(candidate, turn=said, turns=shown.turns, memories=shown.memories, entities=shown.entities)


def _read(proposed: Any) -> SessionMemoryAnswer:
    check_json(proposed)
    try:
        return SessionMemoryAnswer.model_validate(proposed)
    except ValidationError as error:
        raise ValueError(str(error)[:200]) from error
