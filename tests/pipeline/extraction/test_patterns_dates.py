"""Events with a calendar date: the date shows that a statement lasts."""

import pytest

from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Project Aurora goes live on 19 January.", ["Project Aurora goes live on 19 January."]),
        ("Emil's birthday is on 12 June.", ["Emil's birthday is on 12 June."]),
        ("Good news, the sublet now ends on 30 April instead.", ["User's sublet now ends on 30 April."]),
        ("We leave on 23 May and are home on 6 June.", ["User leaves on 23 May and is home on 6 June."]),
        (
            "Lena comes from the 20th to the 22nd of November, what can we do?",
            ["Lena comes from the 20th to the 22nd of November."],
        ),
        ("The launch slipped to 17 March.", ["User's launch is on 17 March."]),
        ("Inês's birthday is on 4 September.", ["Inês's birthday is on 4 September."]),
    ],
)
def test_events_on_a_day_are_kept(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It is on 12 June.",
        "When is 12 June?",
        "Is the party on 12 June?",
        "I need the report by 12 June.",
        "Emil's birthday is on 21 June, no wait, that's Ida's, Emil's is on 12 June.",
        "The error on line 12 is new.",
    ],
)
def test_what_names_no_event_is_left(text: str) -> None:
    assert contents(text) == []


def test_a_later_date_takes_the_slot_of_the_former() -> None:
    (before,), (after,) = (
        said("Project Aurora goes live on 15 December."),
        said("Project Aurora goes live on 19 January."),
    )
    assert (before.subject.text, before.predicate) == (after.subject.text, after.predicate)
    assert after.stateful
