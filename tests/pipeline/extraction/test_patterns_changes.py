"""Changes: the new value, in the slot of the old one or with a quote that retracts the old one."""

import pytest

from apps.pipeline.core.enums import Polarity
from apps.pipeline.lexicon.retractions import takes_back
from tests.pipeline.extraction.extract_helper import contents, said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We're using Vite now, not Webpack.", ["User uses Vite."]),
        ("We use Vite instead of Webpack.", ["User uses Vite."]),
        ("We switched from Jenkins to GitHub Actions.", ["User uses GitHub Actions."]),
        ("We migrated from MySQL 5.7 to Postgres 16.", ["User uses Postgres 16."]),
        ("I've migrated from Notion to Obsidian.", ["User uses Obsidian."]),
        ("I've switched to decaf.", ["User uses decaf."]),
        ("We replaced Poetry with uv.", ["User uses uv."]),
        ("We no longer use Docker.", ["User no longer uses Docker."]),
        ("We don't use Docker any more.", ["User no longer uses Docker."]),
        ("I don't play the cello anymore.", ["User no longer plays the cello."]),
        ("I gave up the piano.", ["User gave up the piano."]),
        ("I moved from Graz to Linz.", ["User lives in Linz."]),
        ("Our budget is 6000 euros.", ["User's budget is 6000 euros."]),
        ("The budget is now 7500 euros.", ["User's budget is 7500 euros."]),
        ("My budget went up to 9000 euros.", ["User's budget is 9000 euros."]),
        ("The deadline moved to 14 March.", ["User's deadline is 14 March."]),
        ("The deadline has been pushed back to 20 March.", ["User's deadline is 20 March."]),
        ("My dentist appointment is on 12 May.", ["User's dentist appointment is on 12 May."]),
        (
            "My dentist appointment has been moved to 14 May.",
            ["User's dentist appointment is on 14 May."],
        ),
        ("My interview was cancelled.", ["User's interview is cancelled."]),
        ("I'm leaving Acme.", ["User is leaving Acme."]),
    ],
)
def test_changes_are_kept(text: str, expected: list[str]) -> None:
    assert contents(text) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Our budget is 6000 euros.", "The budget is now 7500 euros."),
        ("My deadline is 1 March.", "The deadline moved to 14 March."),
        ("My dentist appointment is on 12 May.", "My dentist appointment has been moved to 14 May."),
        ("Our CI is Jenkins.", "Our CI is GitHub Actions now."),
        ("I live in Graz.", "I moved from Graz to Linz."),
    ],
)
def test_a_new_value_takes_the_slot_of_the_old_one(before: str, after: str) -> None:
    (old,), (new,) = said(before), said(after)
    assert (old.subject.text, old.predicate) == (new.subject.text, new.predicate)
    assert old.stateful
    assert new.stateful
    assert old.object.text != new.object.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("I use Notion.", "I don't use Notion any more."),
        ("I'm allergic to kiwi.", "I'm not allergic to kiwi after all."),
        ("I play the cello.", "I don't play the cello anymore."),
    ],
)
def test_the_old_value_is_denied(before: str, after: str) -> None:
    (old,) = said(before)
    denied = [each for each in said(after) if each.polarity is Polarity.NEGATIVE]
    assert [(each.predicate, each.object.text) for each in denied] == [(old.predicate, old.object.text)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("We use Jenkins.", "We switched from Jenkins to GitHub Actions."),
        ("We use Webpack.", "We're using Vite now, not Webpack."),
        ("I use Vim.", "I use Neovim, not Vim."),
        ("I drink coffee.", "Actually no, I drink tea, not coffee."),
        ("I take ramipril 5 mg.", "She switched me from ramipril to losartan."),
    ],
)
def test_the_quote_of_the_new_value_takes_the_old_one_back(before: str, after: str) -> None:
    (old,), (new,) = said(before), said(after)
    assert (old.subject.text, old.predicate) == (new.subject.text, new.predicate)
    assert takes_back(new.evidence, value=new.object.text, former=old.object.text)


@pytest.mark.parametrize(
    "text",
    [
        "I switched from the first file to the second.",
        "I moved the button from left to right.",
        "We replaced the function with a class.",
        "I no longer see the error.",
        "It's moved.",
        "I changed it from 5 to 6.",
    ],
)
def test_changes_of_the_work_are_left(text: str) -> None:
    assert contents(text) == []
