"""Entities in a query: possible names, the first person, and the text that is embedded."""

import pytest

from apps.retrieval.query_text import names_in, without_names


@pytest.mark.parametrize(
    ("text", "phrases"),
    [
        ("", set()),
        ("?!", set()),
        ("Where is Ben Okri?", {"ben okri", "ben", "where is ben okri"}),
        ("Priya's brother", {"priya s brother"}),
        ("who is my manager", {"my manager", "user s manager"}),
        ("our team lead is ill", {"user s team lead"}),
    ],
)
def test_every_short_run_may_be_a_name(text, phrases) -> None:
    found = set(names_in(text).phrases)
    assert phrases <= found
    assert all(len(phrase.split()) <= 5 for phrase in found)


def test_a_long_query_grows_no_faster_than_its_words() -> None:
    assert len(names_in(" ".join(f"w{number}" for number in range(500))).phrases) <= 4 * 500


@pytest.mark.parametrize(
    ("text", "says_i", "says_my"),
    [
        ("where do I live", True, False),
        ("what is my name", False, True),
        ("tell me about my dog", True, True),
        ("Wo wohne ich", True, False),
        ("where does Ana live", False, False),
        ("myth and image", False, False),
    ],
)
def test_a_first_person_speaks_or_owns(text, says_i, says_my) -> None:
    names = names_in(text)
    assert (names.says_i, names.says_my) == (says_i, says_my)


@pytest.mark.parametrize(
    ("text", "inverse"),
    [
        ("where does my sister live", "sister_of"),
        ("my best friend's job", "best_friend_of"),
        ("my best friend's job", "friend_of"),
        ("who are my colleagues", "colleague_of"),
        ("Lena's dog", "dog_of"),
    ],
)
def test_a_relation_leads_from_its_other_side(text, inverse) -> None:
    assert inverse in names_in(text).inverses


def test_only_what_somebody_has_is_a_relation_from_its_other_side() -> None:
    assert names_in("is a sister of Lena there").inverses == ()


def test_a_relation_is_a_predicate_with_or_without_its_verb() -> None:
    predicates = names_in("my team lead").predicates
    assert {"lead", "team_lead", "has_team_lead"} <= set(predicates)
    assert "my_team_lead" not in predicates


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Where does Ana live", "Where does live"),
        ("Ana Kowalska", "Ana Kowalska"),
        ("what is for lunch", "what is for lunch"),
        ("", ""),
    ],
)
def test_names_are_left_out_where_something_is_left(text, left) -> None:
    assert without_names(text) == left
