"""dedupe merges statements that say the same, but never statements that fail a difference check."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import Draft, KnownEntity
from apps.pipeline.core.enums import EntityType, MemoryType, Polarity, Reason, SpeechAct
from apps.pipeline.core.memory_conversion import as_memory
from apps.pipeline.core.operations import AddMemory
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.policy import SimilarityBand
from apps.pipeline.core.ports import Neighbour, Vector
from apps.pipeline.core.statement import Candidate, StoredMemory
from apps.pipeline.deduplication import dedupe
from apps.pipeline.deduplication.guard import differences
from apps.pipeline.deduplication.matching import MatchVerdict, compare
from apps.providers.fake import HashingEmbedder
from tests.pipeline.builders import CountedIds, candidate, draft_of, known, ports_of, resolved, turn

BAND = SimilarityBand(unsure=0.80)
ANA, LENA, OLD = UUID(int=50), UUID(int=51), UUID(int=99)
THEN, NOW = turn("said before", position=0, day=0), turn("said now", position=1, day=3)


def fact(content: str, *, value: str | None = None, subject_id: UUID = ANA, **changes: object) -> Candidate:
    source = changes.pop("source", NOW)
    return resolved(candidate(content, source=source, value=value, **changes), subject_id=subject_id)


def before(content: str, *, value: str | None = None, subject_id: UUID = ANA, **changes: object) -> StoredMemory:
    each = fact(content, value=value, subject_id=subject_id, source=THEN, **changes)
    return known(each, memory_id=OLD, source=THEN)


def decide(
    candidates: Sequence[Candidate],
    *,
    near: Sequence[Neighbour] = (),
    vectors: Sequence[Vector] | None = None,
    entities: Sequence[KnownEntity] = (),
) -> Draft:
    draft = draft_of(candidates, turns=[THEN, NOW]).evolve(entities=tuple(entities))
    unlike = [[float(place == number) for place in range(len(candidates))] for number in range(len(candidates))]
    ids = CountedIds()
    gathered = dedupe.Gathered(
        vectors=vectors or unlike,
        neighbours=[near for _ in candidates],
        band=BAND,
        memory_ids=[ids.new() for _ in candidates],
    )
    return dedupe.decide(draft, gathered)


@pytest.mark.parametrize(
    ("old", "new", "cosine", "verdict", "tier"),
    [
        (before("Ana likes tea.", value="tea"), before("Ana enjoys her tea.", value="Tea"), 0.1, "same", "hash"),
        (before("Ana likes tea."), before("Ana really likes tea."), None, "same", "words"),
        (before("Ana likes tea."), before("Ana really likes tea.", subject_id=LENA), 0.99, "same", "words"),
        (before("Ana likes tea."), before("Ana likes tea.", type=MemoryType.PREFERENCE), 0.99, "same", "words"),
        (before("Ana likes tea."), before("Ana likes strong tea."), 0.85, "unsure", "cosine"),
        (before("Ana likes tea."), before("Ana likes strong tea."), 0.75, "different", "cosine"),
        (before("Ana is a doctor."), before("Ana has a doctor."), 0.99, "unsure", "cosine"),
        (before("Ana is a nurse."), before("Ana was a nurse."), 0.99, "unsure", "cosine"),
        (before("Ana likes tea."), before("Ana enjoys tea."), None, "different", "cosine"),
        (before("Ana has 2 cats."), before("Ana has 3 cats."), 0.99, "different", "cosine"),
        (before("Ana smokes."), before("Ana may smoke."), 0.99, "unsure", "cosine"),
        (before("Ana likes tea.", value="tea"), before("Ana likes milk.", value="milk"), 0.95, "different", "facts"),
        (before("Ana naps."), before("Ana naps.", polarity=Polarity.NEGATIVE), 0.99, "different", "facts"),
        (before("Ana naps."), before("Ana naps.", speech_act=SpeechAct.ROLEPLAY), 0.99, "different", "facts"),
        (before("Lena naps."), before("Lena dozes.", subject_id=LENA), 0.99, "different", "facts"),
        (
            before("Ana works at Arrive since 2019.", value="Arrive"),
            before("Ana works at Arrive since 2021.", value="Arrive"),
            0.99, "different", "hash",
        ),
        (
            before("Ana lives in Munich.", value="Munich", stateful=True),
            before("Ana lives in Munich in Bavaria.", value="Munich in Bavaria", stateful=True),
            0.5, "same", "value",
        ),
        (
            before("Ana lives in York.", value="York", stateful=True),
            before("Ana lives in New York.", value="New York", stateful=True),
            0.95, "unsure", "cosine",
        ),
    ],
)  # fmt: skip
def test_pairs(old: StoredMemory, new: StoredMemory, cosine: float | None, verdict: str, tier: str) -> None:
    match = compare(old, new, cosine=cosine, band=BAND)
    assert (match.verdict, match.tier) == (verdict, tier)
    assert compare(new, old, cosine=cosine, band=BAND) == match


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("Ana went hiking.", "Ana went hiking.", True),
        ("Ana went hiking yesterday.", "Ana went hiking yesterday.", False),
        ("Ana went hiking.", "Ana went hiking on 5 May.", False),
    ],
)
def test_events_on_other_days_are_other_events(old: str, new: str, same: bool) -> None:
    first = before(old, value="hiking", type=MemoryType.EVENT)
    second = known(fact(new, value="hiking", type=MemoryType.EVENT), memory_id=UUID(int=98), source=NOW)
    assert (compare(first, second, cosine=1.0, band=BAND).verdict is MatchVerdict.SAME) is same


def test_dated_events_are_told_apart_by_their_day() -> None:
    may, june = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)
    first = before("Ana ran a race.", value="race", type=MemoryType.EVENT, event_at=may)
    assert compare(first, replace(first, event_at=june), cosine=1.0, band=BAND).verdict is MatchVerdict.DIFFERENT


def test_a_repeat_merges_and_the_more_precise_wording_wins() -> None:
    old = before("Ana works at Arrive.", value="Arrive")
    precise = fact("Ana has worked at Arrive since 2019.", value="Arrive")
    (ruling,) = decide([precise], near=[Neighbour(old, 0.8)]).rulings
    assert (ruling.merge_into, ruling.memory_id, ruling.rule) == (old, OLD, "merge_by_hash")
    assert ruling.changes["content"] == "Ana has worked at Arrive since 2019."


def test_a_vaguer_repeat_keeps_the_known_wording() -> None:
    old = before("Ana has worked at Arrive since 2019.", value="Arrive")
    (ruling,) = decide([fact("Ana works at Arrive.", value="Arrive")], near=[Neighbour(old, 0.8)]).rulings
    assert "content" not in ruling.changes


def test_the_unsure_stay_two_and_are_flagged() -> None:
    old = before("Ana likes tea.")
    (ruling,) = decide([fact("Ana likes strong tea.")], near=[Neighbour(old, 0.85)]).rulings
    assert ruling.merge_into is None
    assert ruling.possible_duplicates == (old,)
    assert ruling.flags == (Reason.UNSURE_DUPLICATE,)
    assert not ruling.needs_review


def test_a_repeat_within_the_request_joins_the_first() -> None:
    first = fact("Ana likes tea.", value="tea", source=THEN)
    draft = decide([first, fact("Ana really likes green tea from Assam.", value="tea")])
    (ruling,) = draft.rulings
    assert ruling.candidate.source_turn_ids == (THEN.id, NOW.id)
    assert ruling.candidate.content == "Ana really likes green tea from Assam."
    assert [(drop.reason, drop.detail) for drop in draft.drops] == [(Reason.DUPLICATE, {"same_as": 0})]


def test_a_repeat_that_lends_its_wording_takes_no_hash_that_is_held() -> None:
    """A race has no object: its hash is that of its words, which a race on another day may have."""
    better = "Ana really ran a race."
    another = before(better, type=MemoryType.EVENT, event_at=THEN.said_at)
    today = [fact(told, type=MemoryType.EVENT, event_at=NOW.said_at) for told in ("Ana ran a race.", better)]
    draft = decide(today, near=[Neighbour(another, 0.95)], vectors=[[1.0, 0.0], [1.0, 0.0]])
    (ruling,) = draft.rulings
    assert ruling.candidate.content == better
    assert as_memory(draft=draft, ruling=ruling).canonical_hash != another.canonical_hash


def test_one_known_memory_is_merged_into_once_a_plan() -> None:
    old = before("Ana likes tea.", value="tea")
    two = [fact("Ana likes tea.", value="tea"), fact("Ana really likes tea.", predicate="fond_of")]
    draft = decide(two, near=[Neighbour(old, 0.95)])
    assert [ruling.merge_into for ruling in draft.rulings] == [old]
    assert [drop.reason for drop in draft.drops] == [Reason.DUPLICATE]


def test_a_name_told_later_tells_nothing_apart() -> None:
    old = before("User likes tea.", value="tea")
    ana = KnownEntity(id=ANA, name="Ana", type=EntityType.PERSON, aliases=("User",), is_user=True)
    (ruling,) = decide([fact("Ana likes tea.", value="tea")], near=[Neighbour(old, 0.7)], entities=[ana]).rulings
    assert ruling.merge_into == old


class CountingEmbedder(HashingEmbedder):
    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        self.calls += 1
        return super().embed(texts)


class OneNeighbour(InMemoryStore):
    def neighbours(self, **given: object) -> list[list[Neighbour]]:
        return [[Neighbour(before("Ana likes black tea.", value="tea"), None)]]


def test_a_vector_that_is_owed_is_made_up_for() -> None:
    embedder, store = CountingEmbedder(), OneNeighbour()
    draft = draft_of([fact("Ana likes black tea.", value="black tea")], turns=[THEN, NOW])
    compared = dedupe.run(draft, ports_of(store, embedder=embedder)).details["compared"]["0"]["near"]
    assert [each["cosine"] for each in compared] == [pytest.approx(1.0)]
    assert embedder.calls == 2


WORDS = st.lists(
    st.sampled_from("Ana Lena Rome likes dislikes not 3 500 euros km May yesterday tea dog might red".split()),
    max_size=8,
).map(" ".join)


COSINES = st.floats(min_value=-1, max_value=1)


@given(old=WORDS, new=WORDS, cosine=COSINES)
def test_no_cosine_merges_what_a_guard_holds_apart(old: str, new: str, cosine: float) -> None:
    match = compare(before(old), before(new), cosine=cosine, band=BAND)
    if differences(old, new):
        assert match.verdict is not MatchVerdict.SAME


def test_what_says_something_else_of_a_known_triple_has_a_hash_of_its_own() -> None:
    known_run = before("Ana ran 5 km.", value="a run", type=MemoryType.EVENT)
    longer = fact("Ana ran 10 km.", value="a run", type=MemoryType.EVENT)
    (ruling,) = decide([longer], near=[Neighbour(memory=known_run, cosine=0.95)]).rulings
    draft = draft_of([longer], turns=[THEN, NOW]).evolve(rulings=(ruling,))
    (added,) = plan_from(draft).of(AddMemory)
    assert added.canonical_hash != known_run.canonical_hash
    assert ruling.merge_into is None
