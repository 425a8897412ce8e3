"""What was said before is dropped, unless it is news or an answer."""

import pytest

from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.turn import SourceTurn
from tests.pipeline.prefilter.judging import SHIPPED, judged, turn


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("I live in Rome.", "i live  in ROME.", Reason.REPEATED_TURN),
        ("I live in Rome.", "I live in Oslo.", None),
    ],
)
def test_what_was_just_said_is_dropped(first: str, second: str, expected: Reason | None) -> None:
    drops = judged([turn(1, first), turn(2, second)]).drops

    assert [drop.reason for drop in drops] == ([expected] if expected else [])


def test_a_repeat_outside_the_window_is_kept() -> None:
    chatter = [turn(place, "ok thanks") for place in range(1, SHIPPED.repeat_window + 1)]
    boat = turn(0, "I own a boat.")

    assert judged([turn(50, boat.content)], [boat, *chatter]).drops == ()
    assert judged([turn(50, boat.content)], [boat, *chatter[1:]]).drops != ()


@pytest.mark.parametrize(
    ("between", "expected"),
    [
        ([turn(2, "ok thanks"), turn(3, "👍"), turn(4, "I LIVE in Berlin.")], Reason.REPEATED_TURN),
        ([turn(2, "I moved to Munich.")], None),
        ([turn(2, "I moved to Munich."), turn(3, "ok thanks")], None),
        ([turn(2, "Munich is lovely.", Role.ASSISTANT)], Reason.REPEATED_TURN),
        ([turn(2, "I moved to Munich.", speaker="Jo")], Reason.REPEATED_TURN),
    ],
)
def test_what_was_said_before_is_news_once_its_speaker_has_told_something_else(
    between: list[SourceTurn], expected: Reason | None
) -> None:
    told = turn(1, "I live in Berlin.")

    assert [drop.reason for drop in judged([turn(9, told.content)], [told, *between]).drops] == (
        [expected] if expected else []
    )


def test_a_conversation_that_is_sent_again_with_each_turn_is_told_once() -> None:
    told = ["I live in Berlin.", "Nice! Since when?", "I moved there in May.", "And work?", "I work at Acme."]
    roles = [Role.USER, Role.ASSISTANT, Role.USER, Role.ASSISTANT, Role.USER]
    earlier = [turn(place, text, role) for place, (text, role) in enumerate(zip(told[:3], roles[:3], strict=True))]
    again = [turn(10 + place, text, role) for place, (text, role) in enumerate(zip(told, roles, strict=True))]

    kept = judged(again, earlier).turns

    assert [each.content for each in kept] == ["I work at Acme."]


def test_a_repeat_that_answers_a_question_is_kept() -> None:
    earlier = [turn(0, "I live in Rome."), turn(1, "Where do you live?", Role.ASSISTANT)]

    assert judged([turn(2, "I live in Rome.")], earlier).drops == ()


def test_two_long_turns_that_differ_after_the_limit_are_no_repeat() -> None:
    start = "I own a boat. " * 400

    assert judged([turn(1, start + "It is red."), turn(2, start + "It is blue.")]).drops == ()


def test_the_same_turn_id_is_a_repeat_whatever_the_text() -> None:
    turns = [turn(1, "I live in Rome.", external_id="m1"), turn(2, "I live in Rome!!", external_id="m1")]

    (drop,) = judged(turns).drops

    assert (drop.turn_id, drop.reason) == (turns[1].id, Reason.REPEATED_TURN)
