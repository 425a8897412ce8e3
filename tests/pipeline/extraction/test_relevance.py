"""Which of many known memories a prompt shows: the user's slots, and what shares a date or number with the turns."""

from uuid import UUID

import pytest

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import EntityType
from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.pipeline.core.ports import RelevanceQuery, Slot
from apps.pipeline.core.statement import StoredMemory
from apps.pipeline.extraction.llm.relevance import memories_to_show
from tests.pipeline.builders import candidate, draft_of, known, ports_of, turn

ANA = KnownEntity(id=UUID(int=1), name="Ana", type=EntityType.PERSON, is_user=True)
SAID = turn("x")
HOME = known(candidate("Ana lives in Rome.", source=SAID), memory_id=UUID(int=5), source=SAID)
OTHER = known(candidate("Ana owns a boat.", source=SAID), memory_id=UUID(int=6), source=SAID)


class ManyMemories(InMemoryStore):
    """A reader with more memories than a prompt shows, which notes what is searched for."""

    query: RelevanceQuery
    slots: tuple[Slot, ...]

    def all_if_few(self, **_: object) -> tuple[tuple[KnownEntity, ...], None]:
        return (ANA,), None

    def holders(self, *, slots: object, **_: object) -> tuple[StoredMemory, ...]:
        self.slots = tuple(slots)  # type: ignore[arg-type]
        return (HOME,)

    def relevant(self, *, query: RelevanceQuery, memories: int) -> tuple[StoredMemory, ...]:
        self.query = query
        return (OTHER, HOME)


def shown(*contents: str) -> tuple[ManyMemories, tuple[StoredMemory, ...]]:
    store = ManyMemories()
    turns = tuple(turn(content, position=place) for place, content in enumerate(contents))
    _, memories = memories_to_show(draft_of((), turns=turns), turns, ports_of(store))
    return store, memories


def test_the_slots_of_the_user_come_first() -> None:
    store, memories = shown("I had a lovely day.")
    assert [each.id for each in memories] == [HOME.id, OTHER.id]
    assert Slot(ANA.id, "lives_in") in store.slots
    assert store.query.now == SAID.said_at


def test_what_does_not_fit_the_tokens_is_left_out() -> None:
    store = ManyMemories()
    policy = Policy(extraction=ExtractionPolicy(max_known_tokens=20))
    draft = draft_of((), turns=(SAID,)).evolve(policy=policy)
    assert [each.id for each in memories_to_show(draft, (SAID,), ports_of(store))[1]] == [HOME.id]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("Der Termin ist am 4. März.", {"4", "march"}),
        ("Le rendez-vous est le 12 août.", {"12", "august"}),
        ("La cita es el 3 de enero a las 9.", {"3", "9", "january"}),
        ("Verschoben auf den 18.9., Zimmer 204", {"18", "september", "204"}),
        ("I paid 46 euros.", {"46", "euro"}),
    ],
)
def test_dates_and_numbers_are_searched_for_in_any_language(said: str, words: set[str]) -> None:
    store, _ = shown(said)
    assert words <= {word for sentence in store.query.words for word in sentence}
