"""A statement that can answer a question when, where or how many comes before one that can't."""

import pytest

from apps.memories.models import Memory

WHEN, WHERE, HOW_MANY = 1, 2, 4


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        ("Jule is User's girlfriend.", 0),
        ("User swims every day.", WHEN),
        ("User plays chess on Tuesdays.", WHEN),
        ("User may bake.", 0),
        ("User lives in Rome.", WHERE),
        ("User's keys are in the drawer.", WHERE),
        ("User was born in May in Rome.", WHEN | WHERE),
        ("User was born in May.", WHEN),
        ("User has two cats.", HOW_MANY),
        ("User has 2 cats.", WHEN | HOW_MANY),
        ("Ana mag die Katze.", WHEN | WHERE | HOW_MANY),
    ],
)
def test_the_kinds_of_answers_that_a_statement_offers(remember, content, kinds) -> None:
    memory = remember(content, indexed=False)
    assert Memory.objects.get(id=memory.id).answer_types == kinds


SHORT, DATED, PLACED = "User has a dentist.", "User sees the dentist on 3 March.", "The dentist works in Rome."


@pytest.mark.parametrize(
    ("query", "first"),
    [("dentist", SHORT), ("When: the dentist?", DATED), ("Where: the dentist?", PLACED), ("Who: the dentist?", SHORT)],
)
def test_what_can_answer_comes_first(find, remember, query, first) -> None:
    for content in (SHORT, DATED, PLACED):
        remember(content, subject="User", predicate="dentist", indexed=False)
    assert find(query)[0] == first


def test_the_predicate_is_searched_like_the_sentence(find, remember) -> None:
    remember("User has a cat.", subject="User", predicate="has_pet", indexed=False)
    remember("User has a car.", subject="User", predicate="owns", indexed=False)
    assert find("any pets?") == ["User has a cat."]
