"""What something costs, counts or is set to, and what is over or allowed again."""

import pytest

from apps.pipeline.core.enums import Polarity, SourceConfidence
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("before", "after", "predicate", "value"),
    [
        ("Launch is on 3 March.", "We've pushed the launch to 17 March.", "launch", "17 March"),
        (
            "My knee operation is on 14 May.",
            "No bed, so they've put my knee off, it is now the 11th of June.",
            "knee_operation",
            "the 11th of June",
        ),
        ("Band practice is Thursdays.", "Band practice moved to Mondays.", "band_practice", "Mondays"),
        ("My migration is on 16 May.", "Migration moved to June 6 because of the audit.", "migration", "June 6"),
        ("Cricket is on Sundays.", "I shifted cricket to Saturday.", "cricket", "Saturday"),
        ("A sponge is nine pounds.", "I've put the sponge up to ten pound fifty.", "sponge", "ten pound fifty"),
        ("Theo's football is on Mondays.", "Theo's football moved to Fridays.", "theo_football", "Fridays"),
        ("We have 40 paying customers.", "We're at 60 paying customers now.", "number_of_paying_customers", "60"),
        ("Our budget is 18k.", "Budget is up to 21k now.", "budget", "21k"),
        ("My PB over 10k is 45:20.", "My PB over 10k is now 44:10.", "pb_over_10k", "44:10"),
        ("Our band is called The Moths.", "Our band is called Paper Moths.", "band", "called Paper Moths"),
    ],
)
def test_a_later_value_meets_the_former_one(before: str, after: str, predicate: str, value: str) -> None:
    (old,), (new,) = said(before), said(after)
    assert (old.predicate, new.predicate, new.object.text) == (predicate, predicate, value)
    assert old.stateful
    assert new.stateful


@pytest.mark.parametrize(
    "text",
    [
        "The answer is 42.",
        "She moved it to Sundays.",
        "She changed it to Friday.",
        "Ida is 9 hours away.",
        "It moved to 17 March.",
        "My internet is slow.",
        # What changes for all, and what others set.
        "Oil rose to 90 dollars",
        "oil rose to 90 dollars",
        "Unemployment fell to 4%",
        "Bitcoin fell to 50000 dollars",
        "Loss fell to 3%",
        "Easter moved to April 5",
        "nobody moved the meeting to Monday",
        "Nobody moved the meeting to Monday",
        "no one raised the price to 20 euros",
        "python changed the default to 30",
        "Python changed the default to 30",
        "congress raised the minimum wage to 15 dollars",
        "Congress raised the minimum wage to 15 dollars",
    ],
)
def test_what_has_no_value_of_a_life_is_left(text: str) -> None:
    assert contents(text) == []


def test_what_is_over_or_allowed_again() -> None:
    (healed,), (eaten,) = said("The stress fracture has healed."), said("Chicken is fine again.")
    assert (healed.predicate, healed.polarity, healed.object.text) == (
        "has_condition",
        Polarity.NEGATIVE,
        "stress fracture",
    )
    assert (eaten.predicate, eaten.polarity, eaten.object.text) == ("consumes", Polarity.POSITIVE, "chicken")


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [
        ("I finished the report today.", False),
        ("I finished the Berlin marathon.", True),
        ("I'm reading the docs.", False),
        ("I'm thinking about getting a dog.", False),
        ("My laptop fan is loud.", False),
        ("I'm allergic to peanuts.", True),
        ("I never got a licence.", True),
        ("I play viola in the city orchestra.", True),
    ],
)
def test_what_does_not_show_that_it_lasts_waits_for_review(text: str, is_sure: bool) -> None:
    (found,) = said(text)
    assert (found.source_confidence is not SourceConfidence.SPECULATED) is is_sure
