"""Unusable patterns are refused with a reason and, if known, the position."""

import pytest

from apps.pipeline.core.enums import Reason
from apps.pipeline.core.policy import PreFilterPolicy, Rule
from apps.pipeline.prefilter.matcher import rule_books
from apps.pipeline.prefilter.rule_patterns import MAX_LENGTH, PatternRefused, check_pattern


@pytest.mark.parametrize(
    ("pattern", "problem", "position"),
    [
        (r"ok (a)\1", "invalid escape sequence", 6),
        (r"(?=x)y", "invalid perl operator", 0),
        (r"x(?<!y)", "invalid", 1),
        (r"fine [z-a]", "invalid character class range", 6),
        (r"*a", "no argument for repetition", 0),
        (r"a{2000}", "invalid repetition size", 1),
        (r"\p{Grek}", "invalid character class range", 0),
        (r"(unclosed", "missing )", 0),
        (r"x*", "empty text", None),
        (r"(?:yes)?", "empty text", None),
        (r"(?:(?:\pL{50}){10}){2}", "too large", None),
        ("x" * (MAX_LENGTH + 1), "longer than", MAX_LENGTH),
        ("bad \ud800", "surrogate", 4),
    ],
)
def test_a_bad_pattern_is_refused(pattern: str, problem: str, position: int | None) -> None:
    with pytest.raises(PatternRefused, match=problem.replace(")", r"\)")) as refused:
        check_pattern(pattern)

    assert refused.value.position == position


@pytest.mark.parametrize("pattern", [r"^ok[.! ]*$", r"\bfoo\b.{0,30}bar", r"grüße", r"\p{Han}+", "(a+)+$"])
def test_a_good_pattern_passes(pattern: str) -> None:
    check_pattern(pattern)


def test_a_policy_with_a_bad_rule_names_it() -> None:
    policy = PreFilterPolicy(rules=(Rule(name="broken", reason=Reason.PATTERN, pattern="(a"),))

    with pytest.raises(PatternRefused, match="rule broken"):
        rule_books(policy)
