"""Open pairs: similar new and known memories that extraction did not relate; a judge decides about them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import SpeechAct, Status
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.ports import Model, Neighbour
from apps.pipeline.core.statement import PATTERNS, Candidate, StoredMemory
from apps.pipeline.deduplication.proposals import denies_other_name, share_subject
from apps.pipeline.lexicon.antonym_predicates import axis_of, sign_of
from apps.pipeline.prompts import memory_pairs
from apps.pipeline.prompts.llm_judge import ask_judge
from apps.pipeline.prompts.memory_pairs import PairVerdict, StatementPair

# By index of the candidate and identifier of the other memory.
Verdicts = Mapping[tuple[int, UUID], PairVerdict]


@dataclass(frozen=True, slots=True)
class OpenPair:
    """A new memory, another one, and their similarity."""

    new: StoredMemory
    index: int  # of the candidate
    other: StoredMemory
    urgency: float  # pairs with the highest value are asked about first


def open_pairs(
    draft: Draft,
    *,
    memories: Mapping[UUID, StoredMemory],
    neighbours: Mapping[int, Sequence[Neighbour]],
    holders: Sequence[StoredMemory],
) -> list[OpenPair]:
    """Return the pairs for a judge, the most urgent first, each pair once.

    `memories` are those that the rulings would write, by identifier; `neighbours` are in the order of the candidates.
    """
    found: dict[tuple[int, UUID], OpenPair] = {}
    for ruling in draft.rulings:
        if ruling.merge_into is not None or ruling.candidate.speech_act is not SpeechAct.ASSERTED:
            continue
        for other, urgency in _open_with(ruling, draft, neighbours.get(ruling.candidate.index, ()), holders):
            key = ruling.candidate.index, other.id
            if other.id not in ruling.candidate.proposed and (key not in found or found[key].urgency < urgency):
                found[key] = OpenPair(memories[ruling.memory_id], ruling.candidate.index, other, urgency)
    return sorted(found.values(), key=lambda pair: -pair.urgency)


def _open_with(
    ruling: Ruling, draft: Draft, near: Sequence[Neighbour], holders: Iterable[StoredMemory]
) -> Iterator[tuple[StoredMemory, float]]:
    candidate, policy = ruling.candidate, draft.policy.judges
    yield from ((other, 2.0) for other in ruling.possible_duplicates)
    yield from ((holder, 3.0) for holder in holders if _may_exclude(candidate, holder) or _opposes(candidate, holder))
    for neighbour in near:
        was_shown = neighbour.memory.id in draft.shown_memories
        gate = policy.shown_gate if was_shown else policy.gate
        is_near = neighbour.cosine is not None and neighbour.cosine >= gate
        is_open = neighbour.memory not in ruling.absorbs and not denies_other_name(neighbour.memory, candidate)
        if (
            is_open
            and is_near
            and neighbour.memory.status is Status.ACTIVE
            and share_subject(candidate, neighbour.memory)
        ):
            yield neighbour.memory, neighbour.cosine or 0.0


def _may_exclude(candidate: Candidate, holder: StoredMemory) -> bool:
    """Return True for an active value, found by a model, of a slot with one value.

    Values that patterns find have fixed predicates, so rules replace them.
    """
    same_slot = (candidate.subject_id, candidate.predicate) == (holder.subject_id, holder.predicate)
    by_rule = candidate.extractor.startswith(PATTERNS)
    return same_slot and holder.status is Status.ACTIVE and candidate.takes_one_value and not by_rule


def _opposes(candidate: Candidate, holder: StoredMemory) -> bool:
    """Return True for the same value on two sides of an axis: can't stand olives, loves olives."""
    same_axis = axis_of(candidate.predicate) == axis_of(holder.predicate) and candidate.subject_id == holder.subject_id
    sides = {sign_of(each.predicate, polarity=each.polarity) for each in (candidate, holder)}
    same_value = canonical_text(candidate.object_text) == canonical_text(holder.object_text)
    return same_axis and same_value and len(sides) > 1 and holder.status is Status.ACTIVE


def ask(pairs: Sequence[OpenPair], *, model: Model, model_name: str) -> tuple[Verdicts, ModelCallRecord]:
    """Ask about pairs in one call; unanswered pairs have no verdict."""
    request = memory_pairs.render(pairs=[_in_order(pair) for pair in pairs], model=model_name)
    result = ask_judge(request, count=len(pairs), model=model, words=PairVerdict)
    verdicts = {
        (pair.index, pair.other.id): PairVerdict(verdict)
        for pair, verdict in zip(pairs, result.verdicts, strict=True)
        if verdict != PairVerdict.UNSURE
    }
    return verdicts, result.call


def _in_order(pair: OpenPair) -> StatementPair:
    first, second = sorted((pair.other, pair.new), key=lambda memory: memory.said_at)
    return StatementPair(first.content, first.said_at, second.content, second.said_at)
