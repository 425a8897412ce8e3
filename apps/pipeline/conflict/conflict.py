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
from apps.pipeline.core.statement import PLAIN, StoredMemory
from apps.pipeline.deduplication.proposals import ProposalRefusal, refusal_of_replacement


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
    """Let a repeated statement close what it replaces, and promote its memory if that was pending and is firm now.

    It is firm if it was stated firmly, or again on another day.
    """
    candidate = ruling.candidate
    merged = known.evolve(**ruling.changes)
    if candidate.given is not None or not may_change_known(draft, candidate, known):
        return ruling
    if known.status is not Status.PENDING_REVIEW:
        done = _replace(draft, ruling, merged, _proposed(draft, ruling, rivals, candidate.replaces))
        return ruling if done.needs_review or done.superseded_by else done
    least = draft.policy.confidence.review_below
    confidence = merged_confidence(draft, candidate, merged).value
    is_firm = candidate_confidence(draft, candidate).value >= least
    is_repeated = len(days_of(draft, candidate, merged)) > 1
    asserted = SpeechAct.ASSERTED in (merged.speech_act, candidate.speech_act)
    if not asserted or confidence < least or not (is_firm or is_repeated):
        return ruling
    done = _against_rivals(draft, ruling, replace(merged, status=Status.ACTIVE, confidence=confidence), rivals)
    return ruling if done.needs_review or done.superseded_by else done.evolve(promotes=True)


def _settle(draft: Draft, ruling: Ruling, rivals: Sequence[StoredMemory]) -> Ruling:
    """Decide about one new memory: first by itself, then against each rival."""
    candidate = ruling.candidate
    memory = as_memory(draft=draft, ruling=ruling)
    doubts = list(ruling.review_reasons)
    if candidate.given is None or candidate.given.status is not Status.ACTIVE:
        if memory.speech_act is not SpeechAct.ASSERTED:
            doubts.append(Reason.NOT_ASSERTED)
        elif memory.confidence < draft.policy.confidence.review_below:
            doubts.append(Reason.LOW_CONFIDENCE)
    doubts += doubts_about_origin(draft, candidate)
    if doubts or ruling.needs_review:
        # What it would replace is shown to the reviewer who decides.
        named = _proposed(draft, ruling, rivals, (*candidate.replaces, *candidate.contradicts))
        return _contradict(ruling.evolve(review_reasons=tuple(doubts)), named).evolve(rule="doubtful")
    return _against_rivals(draft, ruling, memory, rivals)


def _against_rivals(draft: Draft, ruling: Ruling, memory: StoredMemory, rivals: Sequence[StoredMemory]) -> Ruling:
    candidate = ruling.candidate
    replaced = _proposed(draft, ruling, rivals, candidate.replaces)
    contradicted = _proposed(draft, ruling, rivals, candidate.contradicts)
    settled = {*candidate.proposed, *ruling.coexists, *(each.id for each in replaced)}
    # Models choose predicates freely, so equal predicates prove little: one lives in a district and in its city. A
    # model has to say that its value replaces another one, or a judge, or a quote that says that something has changed.
    by_model = candidate.given is None and not candidate.extractor.startswith(PLAIN)
    is_open = by_model and draft.policy.judges.pairs and not says_changed(candidate.evidence)
    for rival in rivals:
        # A memory that waits for review never blocks a firm one; it is replaced only if it is named explicitly.
        if rival.id in settled or rival.status is not Status.ACTIVE:
            continue
        relation = relate(memory, rival, evidence=candidate.wording)
        # A temporary value ends no lasting one: a stay with a friend until May leaves the home.
        is_for_a_while = memory.valid_until is not None and rival.valid_until is None and not was_over(memory)
        if relation is PairRelation.REPLACES and is_for_a_while:
            continue
        if relation is PairRelation.REPLACES and is_open:
            relation = PairRelation.CONTRADICTS
        if relation is PairRelation.REPLACES:
            replaced.append(rival)
        elif relation is PairRelation.CONTRADICTS:
            contradicted.append(rival)
    return _replace(draft, _contradict(ruling, contradicted), memory, replaced)


def _proposed(draft: Draft, ruling: Ruling, rivals: Sequence[StoredMemory], ids: Sequence[UUID]) -> list[StoredMemory]:
    """Return the rivals that an extractor or a judge names; dedupe has refused those about somebody else."""
    refused = (ProposalRefusal.OTHER_SUBJECT, ProposalRefusal.STILL_TRUE)
    named = (rival for rival in rivals if rival.id in ids)
    return [rival for rival in named if refusal_of_replacement(draft, ruling.candidate, rival) not in refused]


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
        # A late arrival ends when its successor was last stated, if the successor began before it.
        if (successor.valid_from or successor.said_at) < memory.said_at:
            successor = replace(successor, valid_from=successor.said_at)
        return ruling.evolve(superseded_by=successor, rule="late_arrival")
    policy = draft.policy.conflict
    for rival in rivals:
        less_trusted = policy.trust[memory.role] < policy.trust[rival.role]
        if less_trusted or not may_change_known(draft, ruling.candidate, rival):
            weakness = Reason.LESS_TRUSTED
        elif memory.confidence < rival.confidence - policy.confidence_slack:
            weakness = Reason.WEAKER_EVIDENCE
        else:
            continue
        return ruling.evolve(review_reasons=(*ruling.review_reasons, weakness), rule="weaker_evidence")
    closed = {rival.id for rival in rivals}
    unsure = tuple(each for each in ruling.possible_duplicates if each.id not in closed)
    flags = tuple(flag for flag in ruling.flags if unsure or flag != Reason.UNSURE_DUPLICATE)
    return ruling.evolve(possible_duplicates=unsure, flags=flags, supersedes=tuple(rivals), rule="supersedes")
