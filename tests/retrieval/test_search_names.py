"""Whom a query means: by name, by alias, through a relation, or the end user who asks."""

import pytest

from apps.memories.models import Entity, Memory
from apps.pipeline.core.enums import EntityType, MemoryType, Status
from apps.pipeline.core.statement import Mention

MUNICH = "Ana Kowalska lives in Munich."
ROME = "Lena lives in Rome."
OSLO = "Priya lives in Oslo."
MANAGER = "Ana Kowalska's manager is Priya."


@pytest.fixture(autouse=True)
def homes(remember, ana) -> None:
    remember(ROME, subject="Lena", predicate="lives_in", object="Rome")
    remember(OSLO, subject="Priya", predicate="lives_in", object="Oslo")
    remember(MUNICH, subject="User", predicate="lives_in", object="Munich")
    remember(
        MANAGER,
        subject="User",
        predicate="has_manager",
        object=Mention("Priya"),
        type=MemoryType.RELATION,
        indexed=False,
    )
    Entity.objects.filter(end_user_id=ana).update(type=EntityType.PERSON)
    Entity.objects.filter(end_user_id=ana, is_user=True).update(name="Ana Kowalska")


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("where do I live", MUNICH),
        ("where does Ana live", MUNICH),
        ("where does Ana Kowalska live", MUNICH),
        ("where does the user live", MUNICH),
        ("where does Lena live", ROME),
        ("who is my manager", MANAGER),
    ],
)
def test_the_one_who_is_meant_comes_first(find, query, first) -> None:
    assert find(query)[0] == first


def test_a_relation_leads_to_the_facts_of_whom_it_names(find) -> None:
    found = find("where does my manager live")
    assert found[:2] == [OSLO, MANAGER]


class TestFromTheOtherSide:
    """Lena is a sister of the user: the predicate leads from Lena to whom it is about."""

    @pytest.fixture(autouse=True)
    def sister(self, remember) -> None:
        of_whom = Mention("User")
        remember("Lena is Ana Kowalska's sister.", subject="Lena", predicate="sister_of", object=of_whom)
        remember("Lena got engaged in May.", subject="Lena", predicate="marital_status", object="engaged")
        remember("Tom is Lena's cat.", subject="Tom", predicate="cat_of", object=Mention("Lena"))

    @pytest.mark.parametrize("query", ["where does my sister live", "my sister's home: where does she live"])
    def test_it_leads_to_her_facts(self, find, query) -> None:
        assert ROME in find(query, limit=2)

    def test_it_leads_on_from_a_name(self, find) -> None:
        assert find("what is Lena's cat called")[0] == "Tom is Lena's cat."

    def test_her_news_come_before_those_of_others(self, find) -> None:
        assert "Lena got engaged in May." in find("is my sister engaged", limit=2)


def test_who_asks_for_something_of_theirs_is_not_put_aside_for_a_place(find, remember) -> None:
    trip = "Ana Kowalska is planning a trip to Rome."
    remember(trip, subject="User", predicate="plans_to", object="a trip to Rome")
    assert find("when is my trip to Rome")[0] == trip


def test_a_retracted_relation_leads_nowhere(find, ana) -> None:
    Memory.objects.filter(end_user_id=ana, content=MANAGER).update(status=Status.RETRACTED)
    found = find("where does my manager live")
    assert found[0] == MUNICH


def test_the_same_words_of_another_keep_a_share_of_their_score(search_hits) -> None:
    asked = {hit.memory.content: hit.score for hit in search_hits("where do I live")}
    nobody = {hit.memory.content: hit.score for hit in search_hits("living where")}
    assert asked[ROME] < nobody[ROME]


def test_what_states_nothing_of_anyone_is_never_put_aside(search_hits, remember) -> None:
    remember("Someone lives in Rome, it was said.", subject="Lena", indexed=False)
    parts = {hit.memory.content: hit.parts for hit in search_hits("where do I live")}
    free, triple = parts["Someone lives in Rome, it was said."], parts[ROME]
    assert free["words"] > triple["words"]
