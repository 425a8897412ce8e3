"""Stage 5, conflict: newer values supersede older ones; contradictions are stored and shown to a reviewer."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from apps.pipeline.conflict.ending import with_ended, with_replaced_notes
from apps.pipeline.conflict.forgetting import with_forgotten
from apps.pipeline.conflict.slots import PairRelation, relate, says_changed, was_over
from apps.pipeline.conflict.trust import doubts_about_origin, may_change_known
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import Reason, SpeechAct, Status
from apps.pipeline.core.memory_conversion import as_memory, candidate_confidence, days_of, merged_confidence, said_at
from apps.pipeline.core.ports import Ports
from apps.pipeline.core.statement import PLAIN_EXTRACTORS, StoredMemory
from apps.pipeline.deduplication.proposals import refusal_of_replacement


def run(draft: Draft, ports: Ports) -> Draft:
    """Find what the user asks to forget; decide against the values in the candidates' slots, which dedupe has read."""
    left = with_forgotten(draft, ports) if draft.forget_requests or draft.asked_to_forget else draft
    decided = with_ended(decide(left, holders=left.holders or ()) if left.rulings else left, ports)
    if draft.notes:
        decided = with_replaced_notes(decided, ports)
    return decided.evolve(details={**left.details, **decided.details})


def decide(draft: Draft, *, holders: Sequence[StoredMemory]) -> Draft:
    """Settle the rulings in the order in which their statements were said, each against all that is live by then.

    What one ruling closes is not compared with later ones, so nothing that was just closed is reopened.
    """
    live = {holder.id: holder for holder in holders}
    for ruling in draft.rulings:
        if again := ruling.merge_into:  # a move away before the last mention of a value no longer applies
            live[again.id] = replace(again, said_at=max(again.said_at, said_at(draft, ruling.candidate)))
    settled: list[Ruling] = []

    def order(ruling: Ruling) -> tuple[bool, float, int]:
        """Order merges first, then new memories by the time they were said."""
        return ruling.merge_into is None, said_at(draft, ruling.candidate).timestamp(), ruling.candidate.index

    for ruling in sorted(draft.rulings, key=order):
        known = ruling.merge_into and live[ruling.merge_into.id]
        rivals = [each for each in live.values() if each.id != ruling.memory_id]
        done = _settle(draft, ruling, rivals) if known is None else _settle_merge(draft, ruling, known, rivals)
        settled.append(done)
        for older in done.supersedes:
            live.pop(older.id, None)
        if known is None and done.superseded_by is None:
            live[done.memory_id] = as_memory(draft=draft, ruling=done)
    details = {"rules": {str(each.candidate.index): each.rule for each in settled}}
    return draft.evolve(rulings=tuple(settled), details=details)


def _settle_merge(draft: Draft, ruling: Ruling, known: StoredMemory, rivals: Sequence[StoredMemory]) -> Ruling:
    """Let a repeated statement close what it replaces, and promote its memory if that was pending."""
    merged = known.evolve(**ruling.changes)
    if ruling.candidate.given is not None or not may_change_known(draft, ruling.candidate, known):
        return ruling
    if known.status is Status.PENDING_REVIEW:
        return _promote(draft, ruling, merged, rivals)
    done = _replace(draft, ruling, merged, _proposed(draft, ruling, rivals, ruling.candidate.replaces))
    return ruling if done.needs_review or done.superseded_by else done


def _promote(draft: Draft, ruling: Ruling, merged: StoredMemory, rivals: Sequence[StoredMemory]) -> Ruling:
    """Make a pending memory active that is firm now: it was stated firmly, or again on another day."""
    policy = draft.policy.confidence
    confidence = merged_confidence(draft, ruling.candidate, merged).value
    is_firm = candidate_confidence(draft, ruling.candidate).value >= policy.review_below
    is_repeated = len(days_of(draft, ruling.candidate, merged)) > 1
    asserted = SpeechAct.ASSERTED in (merged.speech_act, ruling.candidate.speech_act)
    if not asserted or confidence < policy.review_below or not (is_firm or is_repeated):
        return ruling
    lifted = replace(merged, status=Status.ACTIVE, confidence=confidence)
    done = _against_rivals(draft, ruling, lifted, rivals)
    return ruling if done.needs_review or done.superseded_by else done.evolve(promotes=True)


def _settle(draft: Draft, ruling: Ruling, rivals: Sequence[StoredMemory]) -> Ruling:
    """Decide about one new memory: first by itself, then against each rival."""
    memory = as_memory(draft=draft, ruling=ruling)
    doubts = (*ruling.review_reasons, *_doubts(draft, ruling, memory), *doubts_about_origin(draft, ruling.candidate))
    if doubts or ruling.needs_review:
        # What it would replace is shown to the reviewer who decides.
        named = _proposed(draft, ruling, rivals, (*ruling.candidate.replaces, *ruling.candidate.contradicts))
        doubtful = ruling.evolve(review_reasons=doubts)
        return _contradict(doubtful, named).evolve(rule="doubtful")
    return _against_rivals(draft, ruling, memory, rivals)


def _against_rivals(draft: Draft, ruling: Ruling, memory: StoredMemory, rivals: Sequence[StoredMemory]) -> Ruling:
    candidate = ruling.candidate
    replaced = _proposed(draft, ruling, rivals, candidate.replaces)
    contradicted = _proposed(draft, ruling, rivals, candidate.contradicts)
    settled = {*candidate.proposed, *ruling.coexists, *(each.id for each in replaced)}
    for rival in rivals:
        # A memory that waits for review never blocks a firm one; it is replaced only if it is named explicitly.
        if rival.id in settled or rival.status is not Status.ACTIVE:
            continue
        relation = relate(memory, rival, evidence=candidate.wording)
        # A temporary value ends no lasting one: a stay with a friend until May leaves the home.
        is_for_a_while = memory.valid_until is not None and rival.valid_until is None and not was_over(memory)
        if relation is PairRelation.REPLACES and is_for_a_while:
            continue
        if relation is PairRelation.REPLACES and _leaves_open(draft, ruling):
            relation = PairRelation.CONTRADICTS
        if relation is PairRelation.REPLACES:
            replaced.append(rival)
        elif relation is PairRelation.CONTRADICTS:
            contradicted.append(rival)
    return _replace(draft, _contradict(ruling, contradicted), memory, replaced)


def _proposed(draft: Draft, ruling: Ruling, rivals: Sequence[StoredMemory], ids: Sequence[UUID]) -> list[StoredMemory]:
    """Return the rivals that an extractor or a judge names; dedupe has refused those about somebody else."""
    named = (rival for rival in rivals if rival.id in ids)
    return [rival for rival in named if refusal_of_replacement(draft, ruling.candidate, rival) is None]


def _leaves_open(draft: Draft, ruling: Ruling) -> bool:
    """Return True if a model found a value for a filled slot, but neither it nor a judge says that it replaces one.

    Models choose predicates freely, so equal predicates prove little: one lives in a district and in its city. A quote
    that says that something has changed is enough.
    """
    by_model = ruling.candidate.given is None and not ruling.candidate.extractor.startswith(PLAIN_EXTRACTORS)
    return by_model and draft.policy.judges.pairs and not says_changed(ruling.candidate.evidence)


def _doubts(draft: Draft, ruling: Ruling, memory: StoredMemory) -> tuple[str, ...]:
    """Return the reasons for review that don't depend on other memories."""
    given = ruling.candidate.given
    if given is not None and given.status is Status.ACTIVE:
        return ()
    if memory.speech_act is not SpeechAct.ASSERTED:
        return (Reason.NOT_ASSERTED,)
    return (Reason.LOW_CONFIDENCE,) if memory.confidence < draft.policy.confidence.review_below else ()


def _contradict(ruling: Ruling, rivals: Sequence[StoredMemory]) -> Ruling:
    if not rivals:
        return ruling
    return ruling.evolve(contradicts=tuple(rivals), flags=(*ruling.flags, Reason.CONTRADICTION), rule="contradicts")


def _replace(draft: Draft, ruling: Ruling, memory: StoredMemory, rivals: Sequence[StoredMemory]) -> Ruling:
    """Let the newer statement close the older ones, unless its evidence is weaker."""
    if not rivals:
        return ruling
    newer = list(rivals) if was_over(memory) else [rival for rival in rivals if rival.said_at > memory.said_at]
    if newer:
        successor = min(newer, key=lambda each: each.said_at)
        return ruling.evolve(superseded_by=_began_later(successor, memory), rule="late_arrival")
    weakness = next(filter(None, (_weakness(draft, ruling, memory, rival) for rival in rivals)), None)
    if weakness is not None:
        return ruling.evolve(review_reasons=(*ruling.review_reasons, weakness), rule="weaker_evidence")
    return _without_closed(ruling, rivals).evolve(supersedes=tuple(rivals), rule="supersedes")


def _without_closed(ruling: Ruling, closed: Sequence[StoredMemory]) -> Ruling:
    """Drop possible duplicates that the memory closes."""
    ids = {memory.id for memory in closed}
    unsure = tuple(memory for memory in ruling.possible_duplicates if memory.id not in ids)
    flags = tuple(flag for flag in ruling.flags if unsure or flag != Reason.UNSURE_DUPLICATE)
    return ruling.evolve(possible_duplicates=unsure, flags=flags)


def _began_later(successor: StoredMemory, memory: StoredMemory) -> StoredMemory:
    """End a late arrival when its successor was last stated, if the successor began before it."""
    began = successor.valid_from or successor.said_at
    return successor if began >= memory.said_at else replace(successor, valid_from=successor.said_at)


def _weakness(draft: Draft, ruling: Ruling, memory: StoredMemory, rival: StoredMemory) -> str | None:
    """Return how a statement is weaker than the one that it would replace."""
    policy = draft.policy.conflict
    if policy.trust[memory.role] < policy.trust[rival.role] or not may_change_known(draft, ruling.candidate, rival):
        return Reason.LESS_TRUSTED
    weaker = memory.confidence < rival.confidence - policy.confidence_slack
    return Reason.WEAKER_EVIDENCE if weaker else None
