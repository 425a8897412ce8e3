"""Names that are told behind somebody new, and leaders, of whom there is one at a time."""

import pytest

from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We got a puppy yesterday! His name is Rex.", ["Rex is User's puppy."]),
        ("I adopted a cat from the shelter, she's called Uma.", ["Uma is User's cat."]),
        ("We got a puppy. He's called Rex.", ["Rex is User's puppy."]),
        ("I have a dog and a cat. His name is Rex.", []),  # of two, nobody knows which
        (
            "Uma has a little brother now, a ginger kitten called Rex, we found him.",
            ["Uma has a little brother, a ginger kitten called Rex."],
        ),
    ],
)
def test_a_name_behind_somebody_new_is_theirs(text: str, expected: list[str]) -> None:
    assert [each for each in contents(text) if "Rex" in each or "Uma" in each] == expected


def test_a_leader_takes_the_place_of_the_former_one() -> None:
    (old,), (new,) = said("Jonas leads the backend."), said("Mira leads backend now.")
    assert old.predicate == new.predicate == "has_backend_lead"
    assert old.stateful
    assert new.stateful
    assert new.object.text == "Mira"
