"""Differences between two policies, by setting and by rule."""

import pytest

from apps.pipeline.core.enums import Reason
from apps.pipeline.core.policy import ConfidencePolicy, Policy, PreFilterPolicy, Rule
from apps.projects.services import policy_changes

HELLO = Rule(name="hello", reason=Reason.GREETING, pattern="hello")
BYE = Rule(name="bye", reason=Reason.FAREWELL, pattern="bye")


def with_rules(*rules: Rule) -> Policy:
    return Policy(pre_filter=PreFilterPolicy(rules=rules))


def test_a_setting_is_named_by_its_path() -> None:
    (change,) = policy_changes(Policy(), Policy(confidence=ConfidencePolicy(review_below=0.6)))
    assert (change.name, change.before, change.after) == ("confidence.review_below", 0.5, 0.6)


def test_rules_are_found_by_their_name_wherever_they_stand() -> None:
    assert policy_changes(with_rules(HELLO, BYE), with_rules(BYE, HELLO)) == []


def test_a_rule_that_is_new_gone_or_changed() -> None:
    (added,) = policy_changes(with_rules(HELLO), with_rules(HELLO, BYE))
    assert (added.name, added.before, added.after["pattern"]) == ("pre_filter.rules.bye", None, "bye")
    (gone,) = policy_changes(with_rules(HELLO, BYE), with_rules(HELLO))
    assert (gone.name, gone.after) == ("pre_filter.rules.bye", None)
    (changed,) = policy_changes(with_rules(HELLO), with_rules(HELLO.model_copy(update={"order": 7})))
    assert (changed.name, changed.before, changed.after) == ("pre_filter.rules.hello.order", 100, 7)


@pytest.mark.promise
def test_a_stored_version_with_limits_that_are_gone_is_still_read() -> None:
    former = {"same": 0.9, "unsure": 0.7, "residual_same": 0.7, "residual_unsure": 0.2, "near": 0.9, "words": 0.35}
    policy = Policy.model_validate({"dedupe": {"bands": {"wordllama": former}, "fallback_band": former}})
    assert policy.dedupe.band(embedder="wordllama").unsure == 0.7
