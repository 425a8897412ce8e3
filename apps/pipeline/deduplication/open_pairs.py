"""Open pairs: similar new and known memories that extraction did not relate; a judge decides about them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from apps.pipeline.core.canonical import canonical_text
from apps.pipeline.core.draft import Draft, Ruling
from apps.pipeline.core.enums import EntityType, Reason, SpeechAct, Status
from apps.pipeline.core.memory_conversion import said_at
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.ports import Neighbour
from apps.pipeline.core.statement import PLAIN, Candidate, StoredMemory
from apps.pipeline.deduplication.proposals import object_id, share_subject, stays_true
from apps.pipeline.lexicon.antonym_predicates import axis_of, sign_of
from apps.pipeline.prompts import memory_pairs
from apps.pipeline.prompts.llm_judge import AskedJudge, ask_judge
from apps.pipeline.prompts.memory_pairs import PairVerdict, StatementPair

_REFUSED_URGENCY = 4.0
_TIES = frozenset({EntityType.PLACE, EntityType.ORGANISATION})

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
    policy = draft.policy.judges
    for ruling in draft.rulings:
        candidate = ruling.candidate
        if ruling.merge_into is not None or candidate.speech_act is not SpeechAct.ASSERTED:
            continue
        # A model that names a memory is often right, though the sentences have little in common.
        least = _REFUSED_URGENCY if Reason.PROPOSAL_REFUSED in ruling.flags else 2.0
        others = [(other, least) for other in ruling.possible_duplicates]
        others += [(holder, 3.0) for holder in holders if _may_exclude(candidate, holder)]
        others += [(holder, 1.5) for holder in _touched(candidate, draft, holders) if _is_open(ruling, holder)]
        for near in neighbours.get(candidate.index, ()):
            gate = policy.shown_gate if near.memory.id in draft.shown_memories else policy.gate
            if near.cosine is not None and near.cosine >= gate and _is_open(ruling, near.memory):
                others.append((near.memory, near.cosine))
        for other, urgency in others:
            key = candidate.index, other.id
            if other.id not in candidate.proposed and (key not in found or found[key].urgency < urgency):
                found[key] = OpenPair(memories[ruling.memory_id], candidate.index, other, urgency)
    return sorted(found.values(), key=lambda pair: -pair.urgency)


def _touched(candidate: Candidate, draft: Draft, holders: Sequence[StoredMemory]) -> Iterator[StoredMemory]:
    """Yield what a statement may end though its predicate and words are others.

    That is another state of the same kind, and what names the value that it has replaced. What was over when it was
    told ends nothing.
    """
    if candidate.valid_until is not None and candidate.valid_until <= said_at(draft, candidate):
        return
    kinds: dict[UUID | None, EntityType] = {each.id: each.type for each in draft.all_entities}
    tie = kinds.get(object_id(candidate)) if _is_tie(candidate) and candidate.subject_id is not None else None
    closed = [holder for holder in holders if holder.id in candidate.replaces]
    named = {each.id: each.object.entity.text for each in closed if each.object.entity}
    lost = {key: name for key, name in named.items() if name[:1].isupper() and name not in candidate.content}
    for holder in holders:
        # Who has moved away from Lyon no longer looks for a tenant there.
        is_named = any(name in holder.content for key, name in lost.items() if key != holder.id)
        # A model words predicates freely: who "stays in" Hamburg from May on may no longer "live in" Bonn.
        is_state = holder.takes_one_value and holder.subject_id == candidate.subject_id
        if is_named or (is_state and tie in _TIES and kinds.get(object_id(holder)) is tie):
            yield holder


def _is_open(ruling: Ruling, known: StoredMemory) -> bool:
    """Return True if a memory may be ended by a new one, and no rule has settled the pair."""
    is_settled = stays_true(known, ruling.candidate)
    return not is_settled and known.status is Status.ACTIVE and share_subject(ruling.candidate, known)


def touches_shown(candidate: Candidate) -> bool:
    """Return True if a candidate may end what the model was shown, whatever its predicate and however it is worded."""
    return bool(candidate.replaces) or _is_tie(candidate)


def _is_tie(candidate: Candidate) -> bool:
    """Return True for a state of a time that ties its subject to an entity, found by a model."""
    is_state = candidate.takes_one_value or candidate.valid_from is not None
    return is_state and candidate.object.entity is not None and not candidate.extractor.startswith(PLAIN)


def _may_exclude(candidate: Candidate, holder: StoredMemory) -> bool:
    """Return True for an active value that a statement may end: of a slot with one value, or the opposite.

    Values that the plain extractor finds have fixed predicates, so rules replace them. The same value on two sides of
    an axis is the opposite: can't stand olives, loves olives.
    """
    if holder.status is not Status.ACTIVE or candidate.subject_id != holder.subject_id:
        return False
    by_rule = candidate.extractor.startswith(PLAIN)
    if candidate.predicate == holder.predicate and candidate.takes_one_value and not by_rule:
        return True
    sides = {sign_of(each.predicate, polarity=each.polarity) for each in (candidate, holder)}
    value = canonical_text(candidate.object_text)
    same_value = bool(value) and value == canonical_text(holder.object_text)
    return axis_of(candidate.predicate) == axis_of(holder.predicate) and same_value and len(sides) > 1


def ask(pairs: Sequence[OpenPair], *, judge: AskedJudge, model_name: str) -> tuple[Verdicts, ModelCallRecord]:
    """Ask about pairs in one call; what is not answered is left out of the verdicts. Raises ModelFailed."""
    in_order = (sorted((pair.other, pair.new), key=lambda memory: memory.said_at) for pair in pairs)
    told = [StatementPair(first.content, first.said_at, second.content, second.said_at) for first, second in in_order]
    request = memory_pairs.render(pairs=told, model=model_name)
    said, call = ask_judge(request, count=len(pairs), judge=judge, words=PairVerdict)
    verdicts = {
        (pair.index, pair.other.id): PairVerdict(verdict)
        for pair, verdict in zip(pairs, said, strict=True)
        if verdict != PairVerdict.UNSURE
    }
    return verdicts, call
