"""The table of English verbs: forms, stems, third person."""

import pytest

from apps.pipeline.lexicon import verbs


@pytest.mark.parametrize(
    ("word", "may", "must"),
    [
        ("wrote", True, True),
        ("walked", True, True),
        ("written", False, True),
        ("put", True, False),
        ("found", True, False),
        ("come", False, False),
        ("need", False, False),
        ("agreed", True, False),
        ("writes", False, False),
    ],
)
def test_past(word: str, may: bool, must: bool) -> None:
    assert (verbs.may_be_past(word), verbs.must_be_past(word)) == (may, must)


@pytest.mark.parametrize(
    ("word", "third"),
    [
        ("go", "goes"),
        ("try", "tries"),
        ("watch", "watches"),
        ("am", "is"),
        ("have", "has"),
        ("went", "went"),
        ("can", "can"),
        ("wanna", "wants to"),
        ("don't", "don't"),
    ],
)
def test_third_person(word: str, third: str) -> None:
    assert verbs.third_person(word) == third


@pytest.mark.parametrize(("word", "base"), [("goes", "go"), ("tries", "try"), ("took", "take"), ("is", "be")])
def test_base_form(word: str, base: str) -> None:
    assert verbs.base_form(word) == base


@pytest.mark.parametrize(
    ("phrase", "past", "denied"),
    [
        ("lives in Rome", False, "does not live in Rome"),
        ("live in Rome", True, "did not live in Rome"),
        ("is tall", False, "is not tall"),
        ("can swim", False, "cannot swim"),
        ("has written a book", False, "has not written a book"),
        ("has a dog", False, "does not have a dog"),
    ],
)
def test_negative(phrase: str, past: bool, denied: str) -> None:
    assert verbs.negative(phrase, past=past) == denied


@pytest.mark.parametrize(("one", "two"), [("written", "writes"), ("wrote", "writing"), ("went", "go"), ("were", "be")])
def test_forms_of_one_verb_share_a_root(one: str, two: str) -> None:
    assert verbs.root(one) == verbs.root(two)


def test_forms_by_ending() -> None:
    assert verbs.forms_of("write") == {"wrote": "ed", "written": "ed", "write": "", "writes": "s", "writing": "ing"}
    assert verbs.forms_of("like") == {"liked": "ed", "like": "", "likes": "s", "liking": "ing"}
