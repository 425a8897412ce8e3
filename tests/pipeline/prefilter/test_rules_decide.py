"""Rules decide in their order, and whatever the text is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.policy import PreFilterPolicy, Rule
from apps.pipeline.prefilter.default_rules import default_rules
from tests.pipeline.prefilter.judging import judged, reason, turn


def rule(name: str, pattern: str, **fields: object) -> Rule:
    return Rule(name=name, reason=fields.pop("reason", Reason.PATTERN), pattern=pattern, **fields)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ([rule("late", "boat", order=2), rule("soon", "red", order=1)], "pattern:soon"),
        ([rule("late", "boat", order=1), rule("soon", "red", order=2)], "pattern:late"),
        ([rule("gap", "own.*boat", order=1), rule("plain", "red", order=2)], "pattern:gap"),
        ([rule("gap", "own.*boat", order=2), rule("plain", "red", order=1)], "pattern:plain"),
        ([rule("off", "boat", enabled=False)], None),
        ([rule("others", "boat", roles=(Role.ASSISTANT,))], None),
        ([rule("named", "boat", reason=Reason.META_TALK)], Reason.META_TALK),
        ([rule("phrase", "boat", phrase=True)], None),
        ([], None),
    ],
)
def test_the_first_rule_in_order_decides(rules: list[Rule], expected: str | None) -> None:
    assert reason("I own a RED boat.", policy=PreFilterPolicy(rules=tuple(rules))) == expected


def test_a_drop_shows_its_rule_and_what_matched() -> None:
    policy = PreFilterPolicy(rules=(rule("boats", r"red \w+"),))

    draft = judged([turn(1, "I own a Red Boat.")], policy=policy)

    assert draft.drops[0].detail == {"rule": "boats", "matched": "red boat"}
    assert draft.details["reasons"] == {"pattern:boats": 1}
    assert draft.turns == ()


def test_a_phrase_never_matches_a_turn_that_was_cut_at_the_limit() -> None:
    assert reason("ok " * 3_000 + "I live in Rome") is None


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        "ok ",
        "```",
        "[",
        "<memplatform-context",
        "\u0301",
    ],
)
def test_a_long_hostile_text_is_judged_all_the_same(piece: str) -> None:
    # A backtracking expression would never finish on this length.
    policy = PreFilterPolicy(rules=(*default_rules(), rule("nested", "(a+)+$"), rule("gap", "(a.*)+b$")))

    draft = judged([turn(1, piece * 200_000)], policy=policy)

    assert len(draft.drops) + len(draft.turns) == 1


WORDS = st.lists(
    st.sampled_from(["ok", "thanks", "bye", "hello", "yes", "my", "boat", "is", "red", "i", "live", "here", "👍", "."]),
    min_size=1,
    max_size=8,
)


@given(WORDS, st.sampled_from([str.upper, str.title, str.lower]), st.sampled_from(["  ", "\n", "\t "]))
def test_case_and_white_space_change_nothing(words: list[str], recase: object, space: str) -> None:
    assert callable(recase)

    assert reason(recase(space.join(words)) + space) == reason(" ".join(words))
