"""Results of tests, what serves the speaker, and which version something is on."""

import pytest

from tests.pipeline.extraction.extract_helper import contents


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Leo's test at the clinic came back clean.", ["Leo's test at the clinic came back clean."]),
        ("And nuts are fine: Leo's test came back negative.", ["Leo's test came back negative."]),
        ("My dad's scan came back clear, thank god.", ["User's dad's scan came back clear."]),
        ("My test results are good.", ["User's test results are good."]),
        ("cron does the backups for us.", ["cron does the backups for User."]),
        ("16 is fine for now, but staging is still on 13 until summer.", ["Staging is still on 13."]),
    ],
)
def test_what_matters_to_the_speaker_is_kept(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    "text",
    ["The test was fine.", "My tests are failing.", "It is on 15.", "Dinner is on Friday.", "Can you do it for me?"],
)
def test_what_is_of_the_moment_is_left(text: str) -> None:
    assert contents(text) == []
