"""The default rules are complete, have unique names, and each can match."""

from apps.pipeline.core.enums import Reason
from apps.pipeline.core.policy import PreFilterPolicy
from apps.pipeline.prefilter.default_rules import default_rules
from apps.pipeline.prefilter.matcher import matcher_for
from apps.pipeline.prefilter.rule_patterns import check_pattern


def test_there_are_many_and_their_names_are_unique() -> None:
    names = [rule.name for rule in default_rules()]

    assert len(names) >= 60
    assert len(set(names)) == len(names)


def test_every_reason_that_words_can_give_is_covered() -> None:
    assert {rule.reason for rule in default_rules()} == {
        Reason.TOOL_MARKER,
        Reason.META_TALK,
        Reason.FAREWELL,
        Reason.THANKS,
        Reason.GREETING,
        Reason.ACKNOWLEDGEMENT,
    }


def test_every_pattern_would_be_accepted_from_an_admin() -> None:
    for rule in default_rules():
        check_pattern(rule.pattern)


def test_the_rules_survive_being_stored_as_json() -> None:
    policy = PreFilterPolicy(rules=default_rules())
    again = PreFilterPolicy.model_validate_json(policy.model_dump_json())

    assert again == policy
    assert matcher_for(again) is matcher_for(policy)
