"""Stage 5, conflict: what was true gives way to what is true; what contradicts is kept and shown to a person."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from apps.pipeline.conflict.antonym_predicates import same_axis
from apps.pipeline.conflict.supersession import PairRelation, is_taken_back, relate, says_additional
from apps.pipeline.core.candidate_facts import said_at
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import Reason, SpeechAct, Status
from apps.pipeline.core.memory_conversion import as_memory
from apps.pipeline.core.ports import Embedder, Ports, Slot
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.deduplication.difference_checks import Guard, differences
from apps.pipeline.deduplication.similarity import cosine
from apps.pipeline.lexicon.retractions import corrects
from apps.pipeline.prompts import contradictions
from apps.pipeline.prompts.contradictions import ContradictionVerdict
from apps.pipeline.prompts.llm_judge import ask_judge, judge_of

# Differences by which two statements of one predicate may exclude each other.
_OPPOSING = frozenset({Guard.NEGATION, Guard.REVERSAL, Guard.CONTRAST})


def run(draft: Draft, ports: Ports) -> Draft:
    """Read the holders of every slot in one call, then decide."""
    if not draft.rulings:
        return draft
    holders = ports.memories.holders(end_user_id=draft.request.origin.end_user_id, slots=_slots(draft.rulings))
    decided = decide(draft, holders=holders)
    model = judge_of(draft, ports)
    asked = _may_contradict(decided, holders=holders, embedder=ports.embedder)[: draft.policy.judges.most_questions]
    if model is None or not asked or not draft.policy.judges.contradictions:
        return decided
    pairs = [(holder.content, ruling.candidate.content) for ruling, holder in asked]
    request = contradictions.render(pairs=pairs, model=draft.policy.extraction.model)
    judgement = ask_judge(request, count=len(asked), model=model, words=ContradictionVerdict)
    incompatible = [
        (ruling.memory_id, holder)
        for (ruling, holder), verdict in zip(asked, judgement.verdicts, strict=True)
        if verdict == ContradictionVerdict.INCOMPATIBLE
    ]
    rulings = tuple(_with_judged(ruling, incompatible) for ruling in decided.rulings)
    return decided.evolve(rulings=rulings, model_calls=(*decided.model_calls, judgement.call))


def _may_contradict(
    decided: Draft, *, holders: Sequence[StoredMemory], embedder: Embedder
) -> list[tuple[Ruling, StoredMemory]]:
    """Return new memories with the one live holder of their slot that is alike and differs in a word that opposes."""
    open_pairs = [
        (ruling, holder)
        for ruling in _fresh(decided)
        if not (ruling.candidate.stateful or ruling.contradicts or ruling.needs_review)
        for holder in holders
        if holder.status is Status.ACTIVE and _may_oppose(ruling, holder) and holder not in ruling.possible_duplicates
    ]
    texts = list(dict.fromkeys(text for ruling, holder in open_pairs for text in _contents(ruling, holder)))
    vectors = dict(zip(texts, embedder.embed(texts), strict=True)) if texts else {}
    scored = [(cosine(*(vectors[text] for text in _contents(*pair))), pair) for pair in open_pairs]
    gate = decided.policy.judges.contradiction_gate
    nearest = sorted((each for each in scored if each[0] >= gate), key=lambda each: -each[0])
    return list({ruling.memory_id: (ruling, holder) for _, (ruling, holder) in reversed(nearest)}.values())


def _contents(ruling: Ruling, holder: StoredMemory) -> tuple[str, str]:
    return ruling.candidate.content, holder.content


def _may_oppose(ruling: Ruling, holder: StoredMemory) -> bool:
    candidate = ruling.candidate
    slot = (candidate.subject.entity_id, candidate.predicate)
    if slot != (holder.subject_id, holder.predicate) or not (candidate.traits.holds_slot and holder.traits.holds_slot):
        return False
    return bool(differences(candidate.content, holder.content) & _OPPOSING)


def _with_judged(ruling: Ruling, incompatible: Sequence[tuple[UUID, StoredMemory]]) -> Ruling:
    return _contradict(ruling, [holder for memory_id, holder in incompatible if memory_id == ruling.memory_id])


def _slots(rulings: Sequence[Ruling]) -> list[Slot]:
    """Name the slots of all new memories, with the predicates that may say the opposite."""
    slots = (
        Slot(subject_id=ruling.candidate.subject.entity_id, predicate=predicate)
        for ruling in rulings
        if ruling.candidate.subject.entity_id
        and (ruling.candidate.traits.holds_slot or corrects(ruling.candidate.evidence))
        for predicate in sorted(same_axis(ruling.candidate.predicate))
    )
    return list(dict.fromkeys(slots))


def decide(draft: Draft, *, holders: Sequence[StoredMemory]) -> Draft:
    """Settle the rulings in the order in which their statements were said, each against all that is live by then."""
    live = {holder.id: holder for holder in holders}
    merged = [(ruling, ruling.merge_into) for ruling in draft.rulings if ruling.merge_into is not None]
    live |= {known.id: _said_again(draft, ruling, known) for ruling, known in merged}
    settled = [_taking_back(draft, ruling, known, tuple(live.values())) for ruling, known in merged]
    for closed in (older for ruling in settled for older in ruling.supersedes):
        live.pop(closed.id, None)
    for ruling in sorted(_fresh(draft), key=lambda each: _when(draft, each)):
        done = _settle(draft, ruling, as_memory(draft=draft, ruling=ruling), tuple(live.values()))
        settled.append(done)
        for older in done.supersedes:
            live.pop(older.id, None)
        if done.superseded_by is None:
            live[done.memory_id] = as_memory(draft=draft, ruling=done)
    return draft.evolve(
        rulings=tuple(settled), details={"rules": {str(each.candidate.index): each.rule for each in settled}}
    )


def _taking_back(draft: Draft, ruling: Ruling, known: StoredMemory, live: Sequence[StoredMemory]) -> Ruling:
    """Let a value that is said again close the one that it takes back: "Neovim, as I said, not Vim"."""
    memory, evidence = as_memory(draft=draft, ruling=ruling), ruling.candidate.evidence
    rivals = [each for each in live if {each.status, known.status} == {Status.ACTIVE} and each.id != known.id]
    taken = tuple(each for each in rivals if is_taken_back(each, by=memory, evidence=evidence))
    if not taken or any(_weakness(draft, memory, each) for each in taken):
        return ruling
    return ruling.evolve(supersedes=taken, rule="supersedes")


def _fresh(draft: Draft) -> list[Ruling]:
    return [ruling for ruling in draft.rulings if ruling.merge_into is None]


def _when(draft: Draft, ruling: Ruling) -> tuple[float, int]:
    return said_at(draft, ruling.candidate).timestamp(), ruling.candidate.index


def _said_again(draft: Draft, ruling: Ruling, known: StoredMemory) -> StoredMemory:
    """Count a value as said when it was said last: a move away that lies before that is over again."""
    return replace(known, said_at=max(known.said_at, said_at(draft, ruling.candidate)))


def _settle(draft: Draft, ruling: Ruling, memory: StoredMemory, live: Sequence[StoredMemory]) -> Ruling:
    """Rule on one new memory: first on itself, then against each rival."""
    doubts = _doubts(draft, memory)
    if doubts:
        return ruling.evolve(review_reasons=(*ruling.review_reasons, *doubts), rule="doubtful")
    # What nobody has reviewed yet never stands in the way of what is sure, nor is it replaced unseen.
    rivals = [each for each in live if each.status is Status.ACTIVE and each.id != memory.id]
    additive = says_additional(ruling.candidate.evidence)
    related = [
        (rival, relate(memory, rival, additive=additive, evidence=ruling.candidate.evidence)) for rival in rivals
    ]
    ruling = _contradict(ruling, [rival for rival, relation in related if relation is PairRelation.CONTRADICTS])
    replaced = [rival for rival, relation in related if relation is PairRelation.REPLACES]
    return _replace(draft, ruling, memory, replaced) if replaced else ruling


def _doubts(draft: Draft, memory: StoredMemory) -> tuple[str, ...]:
    """Return why a person has to look at a memory whatever else is known."""
    if memory.speech_act is not SpeechAct.ASSERTED:
        return (Reason.NOT_ASSERTED,)
    return (Reason.LOW_CONFIDENCE,) if memory.confidence < draft.policy.confidence.review_below else ()


def _contradict(ruling: Ruling, rivals: Sequence[StoredMemory]) -> Ruling:
    if not rivals:
        return ruling
    return ruling.evolve(contradicts=tuple(rivals), flags=(*ruling.flags, Reason.CONTRADICTION), rule="contradicts")


def _replace(draft: Draft, ruling: Ruling, memory: StoredMemory, rivals: Sequence[StoredMemory]) -> Ruling:
    """Let the newer statement close the older one, unless it rests on weaker evidence."""
    newer = [rival for rival in rivals if rival.said_at > memory.said_at]
    if newer:
        successor = min(newer, key=lambda each: each.said_at)
        return ruling.evolve(superseded_by=_began_later(successor, memory), rule="late_arrival")
    weakness = next(filter(None, (_weakness(draft, memory, rival) for rival in rivals)), None)
    if weakness is not None:
        return ruling.evolve(review_reasons=(*ruling.review_reasons, weakness), rule="weaker_evidence")
    return _without_closed(ruling, rivals).evolve(supersedes=tuple(rivals), rule="supersedes")


def _without_closed(ruling: Ruling, closed: Sequence[StoredMemory]) -> Ruling:
    """Take back the question whether a memory is a duplicate of one that it closes."""
    ids = {memory.id for memory in closed}
    unsure = tuple(memory for memory in ruling.possible_duplicates if memory.id not in ids)
    flags = tuple(flag for flag in ruling.flags if unsure or flag != Reason.UNSURE_DUPLICATE)
    return ruling.evolve(possible_duplicates=unsure, flags=flags)


def _began_later(successor: StoredMemory, memory: StoredMemory) -> StoredMemory:
    """End a late arrival when its successor was last said, if the successor began before it."""
    began = successor.valid_from or successor.said_at
    return successor if began >= memory.said_at else replace(successor, valid_from=successor.said_at)


def _weakness(draft: Draft, memory: StoredMemory, rival: StoredMemory) -> str | None:
    """Return in what a statement is weaker than the one that it would replace."""
    policy = draft.policy.conflict
    if policy.trust[memory.role] < policy.trust[rival.role]:
        return Reason.LESS_TRUSTED
    weaker = memory.confidence < rival.confidence - policy.confidence_slack
    return Reason.WEAKER_EVIDENCE if weaker else None
