"""Session-level extraction: one call over all turns; its statements are marked as inferred, and expire."""

from datetime import timedelta
from typing import Any

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import INFERRED, Grounding, MemoryType, Precision, SourceConfidence
from apps.pipeline.core.ports import Model, Ports
from apps.pipeline.core.statement import Candidate, ObjectValue
from apps.pipeline.extraction.llm.candidates import Judge, Shown, propose
from apps.pipeline.extraction.llm.extractor import ask_up_to_twice, failure_of
from apps.pipeline.extraction.llm.relevance import memories_to_show
from apps.pipeline.extraction.not_to_store import CUT
from apps.pipeline.extraction.windows import CandidateRefusal, ExtractionResult
from apps.pipeline.prompts import session as prompt
from apps.pipeline.prompts.sections import ShownTurn, numbered
from apps.pipeline.prompts.session import SessionKind

_PREDICATES = {SessionKind.ARC.value: "is_going_through", SessionKind.GOAL.value: "has_goal"}


def extract(draft: Draft, *, model: Model, ports: Ports) -> ExtractionResult:
    """Ask the model what the turns of a session show together. Raises ModelFailed.

    Of what is known, the arcs and goals come first, which the session may continue or end.
    """
    policy = draft.policy.extraction
    entities, memories = memories_to_show(draft, draft.turns, ports, slots=tuple(_PREDICATES.values()))
    new = {turn.id for turn in draft.turns}
    said = [turn for turn in draft.request.turns if turn.content != CUT]
    turns = [ShownTurn(f"t{n}", turn, turn.id in new) for n, turn in enumerate(said, start=1)]
    shown = Shown(turns=turns, entities=numbered("e", entities), memories=numbered("m", memories))
    request = prompt.render(turns=shown.turns, entities=shown.entities, memories=shown.memories, policy=policy)
    answer, parsed, calls = ask_up_to_twice(request, model=model)
    if failure := failure_of(parsed, calls[-1]):
        return ExtractionResult(calls=calls, failure=failure)
    judge = Judge(model=answer.model, policy=policy, own_reliability=answer.reliability)
    candidates: list[Candidate] = []
    refused: list[CandidateRefusal] = []
    for proposed in parsed.objects:
        try:
            outcome = _propose(proposed, shown=shown, judge=judge)
        except ValueError:  # an invalid object costs only itself
            continue
        if isinstance(outcome, CandidateRefusal):
            refused.append(outcome)
        else:
            candidates.append(outcome)
    invalid = len(parsed.objects) - len(candidates) - len(refused)
    return ExtractionResult(
        candidates=tuple(candidates),
        refused=tuple(refused),
        calls=calls,
        shown_memories=frozenset(each.id for each in memories),
        notes={"answer": parsed.kind.value, "objects": len(parsed.objects), "invalid": invalid},
    )


def _propose(proposed: Any, *, shown: Shown, judge: Judge) -> Candidate | CandidateRefusal:
    """Convert one object to a candidate: an arc or goal of the speaker, that no single turn says. Raises ValueError."""
    kind = proposed.get("kind") if isinstance(proposed, dict) else None
    if kind not in _PREDICATES:
        raise ValueError("neither an arc nor a goal")
    given = {**proposed, "type": MemoryType.FACT.value, "subject": "user", "predicate": _PREDICATES[kind]}
    outcome = propose(given, shown=shown, judge=judge).outcome
    if isinstance(outcome, CandidateRefusal):
        return outcome
    (said,) = [each.turn for each in shown.turns if each.turn.id == outcome.source_turn_ids[0]]
    open_ended = {each.id for each in shown.memories.values() if each.predicate in _PREDICATES.values()}
    named = proposed.get("source_turn_ids")
    cited = named if isinstance(named, list) else []
    return outcome.evolve(
        object=ObjectValue(),
        replaces=tuple(each for each in outcome.replaces if each in open_ended),
        source_turn_ids=tuple(
            each.turn.id for each in shown.turns if each.turn is said or (each.is_new and each.id in cited)
        ),
        source_confidence=SourceConfidence.INFERRED,
        grounding=Grounding.SUPPORTED,
        adjustment=0.0,
        tags=(kind, INFERRED),
        valid_until=said.said_at + timedelta(days=judge.policy.session_memory_days),
        valid_until_precision=Precision.DAY,
    )
