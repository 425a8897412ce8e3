"""Outcomes of stages 3 to 6 for LoCoMo's observations as candidates, in the in-memory store.

Each session is one request: its turns, and its observations as candidates whose evidence is the turns that they cite.
Observations have no triples; benchmarks/observed.py derives them. A judge that always answers "unsure" counts the
questions.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from uuid import UUID

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.memories.reading.memory_state import StoredState
from apps.pipeline import flow
from apps.pipeline.conflict.slots import takes_slot
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import LIVE_STATUSES, ExtractorKind, LinkKind, Role, Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.core.operations import LinkMemories
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.ports import Embedder, Ports
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.resolution.pronouns import kind_of
from apps.providers.fake import ScriptedModel
from benchmarks.locomo_data import Conversation, LocomoObservation, LocomoTurn
from benchmarks.observed import candidate_of

_POLICY = Policy(extraction=ExtractionPolicy(extractor=ExtractorKind.MODEL))  # with patterns alone no judge is called
_NO_DATE = datetime(2023, 1, 1, tzinfo=UTC)


_JUDGES = {
    Purpose.JUDGE_REFERENCES: "asked_references",
    Purpose.JUDGE_PAIRS: "asked_pairs",
}


class _World:
    """Clock and identifiers of a run."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def new(self) -> UUID:
        return new_id()


def funnel(conversations: Iterable[Conversation], *, embedder: Embedder) -> dict[str, int]:
    """Return counts over all conversations; the last four must be zero."""
    counts: Counter[str] = Counter()
    for conversation in conversations:
        counts.update(_run(conversation, embedder))
    return dict(counts)


def _run(conversation: Conversation, embedder: Embedder) -> Counter[str]:
    store, world, user = InMemoryStore(), _World(), new_id()
    judge = ScriptedModel(lambda _: "")
    ports = Ports(now=world.now, new_id=world.new, embedder=embedder, memories=store, writer=store, model=judge)
    links: set[tuple[LinkKind, frozenset[UUID]]] = set()
    counts: Counter[str] = Counter(dict.fromkeys(_JUDGES.values(), 0))
    for session, turns in groupby(conversation.turns, key=lambda turn: turn.session):
        observations = [each for each in conversation.observations if each.session == session]
        draft = flow.settle(_draft(list(turns), observations, user=user), ports)
        plan = plan_from(draft)
        store.apply(draft=draft, plan=plan)
        links |= {(link.kind, frozenset((link.from_id, link.to_id))) for link in plan.of(LinkMemories)}
        _index(store, user, draft, embedder)
        counts.update(_became(draft))
    state = store.state(end_user_id=user)
    counts.update(entities=len(state.entities), aliases=sum(len(each.aliases) for each in state.entities.values()))
    counts.update(f"links_{kind.value}" for kind, _ in links)
    for asked in judge.asked:
        counts[_JUDGES[asked.purpose]] += asked.turns.count("<question ")
    counts.update(
        _broken(list(state.memories.values()), {entity.id: entity.name for entity in state.entities.values()})
    )
    return counts


def _draft(said: Sequence[LocomoTurn], observations: Sequence[LocomoObservation], *, user: UUID) -> Draft:
    ids = {each.id: new_id() for each in said}
    turns = tuple(
        SourceTurn(
            id=ids[each.id], position=place, role=Role.USER, content=each.text, speaker=each.speaker,
            received_at=each.said_at or _NO_DATE, occurred_at=each.said_at,
        )
        for place, each in enumerate(said)
    )  # fmt: skip
    origin = Origin(project_id=UUID(int=1), end_user_id=user, session_id=new_id())
    request = Request(trace_id=new_id(), origin=origin, turns=turns)
    cited = [(each, tuple(ids[turn] for turn in each.evidence if turn in ids)) for each in observations]
    candidates = (
        candidate_of(each, index=index, sources=sources) for index, (each, sources) in enumerate(cited) if sources
    )
    return Draft.start(request=request, policy=_POLICY).evolve(candidates=tuple(candidates))


def _index(store: InMemoryStore, user: UUID, draft: Draft, embedder: Embedder) -> None:
    ids = list(dict.fromkeys(ruling.memory_id for ruling in draft.rulings))
    memories = store.state(end_user_id=user).memories
    vectors = embedder.embed([memories[each].memory.content for each in ids])
    for memory_id, vector in zip(ids, vectors, strict=True):
        store.put_vector(end_user_id=user, memory_id=memory_id, embedder=embedder.name, vector=vector)


def _became(draft: Draft) -> dict[str, int]:
    return {
        "candidates": len(draft.rulings) + len(draft.drops),
        "stored": sum(ruling.merge_into is None for ruling in draft.rulings),
        "merged": sum(ruling.merge_into is not None for ruling in draft.rulings),
        "superseded": sum(len(ruling.supersedes) for ruling in draft.rulings),
        "late_arrivals": sum(ruling.superseded_by is not None for ruling in draft.rulings),
        "waiting": sum(ruling.needs_review for ruling in draft.rulings),
        "dropped": len(draft.drops),
        "flagged": sum(bool(ruling.possible_duplicates) for ruling in draft.rulings),
    }


def _broken(kept: Sequence[StoredState], names: dict[UUID, str]) -> dict[str, int]:
    live = [each for each in kept if each.memory.status in LIVE_STATUSES]
    hashes = Counter(each.memory.canonical_hash for each in live)
    slots = Counter(
        (each.memory.subject_id, each.memory.predicate)
        for each in live
        if each.memory.status is Status.ACTIVE and takes_slot(each.memory)
    )
    subjects = [names.get(each.memory.subject_id, "") for each in kept if each.memory.subject_id]
    return {
        "active": sum(each.memory.status is Status.ACTIVE for each in kept),
        "pronoun_subjects": sum(kind_of(name) is not None for name in subjects),
        "live_duplicates_by_hash": sum(count - 1 for count in hashes.values()),
        "two_values_of_a_slot": sum(count - 1 for count in slots.values()),
        "without_turns": sum(not each.memory.origins for each in kept),
    }
