"""A turn can be tried on the rules, including an unsaved one."""

import pytest

from apps.common.errors import Unfit
from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.policy import Rule
from apps.tenants.models import Project
from apps.traces.models import PreFilterRule, Turn
from apps.tuning.rules import try_turn

pytestmark = pytest.mark.django_db

BEES = Rule(name="bees", reason=Reason.PATTERN, pattern=r"\bbees?\b", order=1)


def test_the_rule_that_drops_it_and_what_it_matched(project: Project) -> None:
    drop = try_turn(project_id=project.id, content="thank you!", role=Role.USER)
    assert drop is not None
    assert drop.reason == Reason.THANKS
    assert PreFilterRule.objects.filter(project=project, name=drop.detail["rule"]).exists()
    assert "thank you" in drop.detail["matched"]


def test_what_goes_on_is_not_dropped(project: Project) -> None:
    assert try_turn(project_id=project.id, content="I keep bees.", role=Role.USER) is None


def test_a_rule_that_is_not_saved_takes_part(project: Project) -> None:
    drop = try_turn(project_id=project.id, content="I keep bees.", role=Role.USER, rule=BEES)
    assert drop is not None
    assert (drop.reason, drop.detail["rule"], drop.detail["matched"]) == ("pattern:bees", "bees", "bees")
    assert not Turn.objects.exists()


def test_a_check_that_is_no_rule_names_none(project: Project) -> None:
    drop = try_turn(project_id=project.id, content="hm, noted", role=Role.ASSISTANT)
    assert drop is not None
    assert (drop.reason, "rule" in drop.detail) == (Reason.UNTRUSTED_ROLE, False)


def test_what_was_said_before_makes_an_answer_of_it(project: Project) -> None:
    drop = try_turn(project_id=project.id, content="yes", role=Role.USER)
    assert drop is not None
    assert drop.reason == Reason.ACKNOWLEDGEMENT
    assert try_turn(project_id=project.id, content="yes", role=Role.USER, before="Do you live in Porto?") is None


def test_a_pattern_that_can_not_be_used_is_refused(project: Project) -> None:
    with pytest.raises(Unfit):
        try_turn(project_id=project.id, content="x", role=Role.USER, rule=BEES.model_copy(update={"pattern": "("}))
