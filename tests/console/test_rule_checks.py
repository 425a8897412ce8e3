"""What saving a rule checks first."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from apps.intake.accept import Submission, accept
from apps.memories.models import Memory
from apps.pipeline.core.enums import Reason, Role, Status
from apps.pipeline.core.policy import Rule
from apps.pipeline.core.turn import NewTurn
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule
from apps.traces.policies import active_policy
from apps.tuning.rules import try_rule
from tests.console.test_patterns import HOME, RULE, active

pytestmark = pytest.mark.django_db


def test_a_rule_that_drops_a_memory_is_saved_only_under_its_typed_name(tuner: Client, full_project: Project) -> None:
    page = tuner.post(f"{HOME}patterns/new/", RULE).content.decode()
    assert "Of the last 6 turns it would drop <strong>1</strong> (17%)" in page
    assert "My sister Marta lives in Porto." in page
    (seen,) = re.findall(r'name="seen" value="(\w+)"', page)
    confirmed = RULE | {"seen": seen, "confirmation": "porto"}
    for given in (
        confirmed | {"confirmation": "Porto"},
        confirmed | {"pattern": "lisbon"},
        RULE | confirmed | {"seen": ""},
    ):
        assert "Not saved yet" in tuner.post(f"{HOME}patterns/new/", given).content.decode()
    assert active(full_project).number == 1
    tuner.post(f"{HOME}patterns/new/", confirmed)
    assert PreFilterRule.objects.filter(project=full_project, name="porto").exists()


def test_a_draft_needs_no_confirmation(tuner: Client, full_project: Project) -> None:
    tuner.post(f"{HOME}patterns/new/", RULE | {"draft": ""})
    assert (active(full_project).number, ConfigurationVersion.objects.count()) == (1, 2)


def test_a_harmful_rule_is_not_switched_on_with_one_click(tuner: Client, full_project: Project) -> None:
    tuner.post(f"{HOME}patterns/new/", {name: value for name, value in RULE.items() if name != "enabled"})
    page = tuner.post(f"{HOME}patterns/rules/porto/switch/", follow=True).content.decode()
    assert "Nothing was changed: rule porto would drop what is worth keeping." in page
    assert not PreFilterRule.objects.get(name="porto").enabled


def test_a_share_of_all_turns_is_harm_without_any_memory(full_project: Project) -> None:
    """None of the turns became a memory that was accepted."""
    Memory.objects.filter(project=full_project).update(status=Status.REJECTED)
    rule = Rule(name="porto", reason=Reason.PATTERN, pattern="porto")
    found = try_rule(project_id=full_project.pk, rule=rule)
    assert (found.turns, len(found.dropped), found.harmful, found.needs_confirmation) == (6, 1, [], True)
    nothing = try_rule(project_id=full_project.pk, rule=rule.model_copy(update={"pattern": "zebra"}))
    assert (nothing.dropped, nothing.needs_confirmation) == ([], False)


def test_turns_that_are_dropped_already_are_no_harm(full_project: Project) -> None:
    rule = Rule(name="thanks_too", reason=Reason.PATTERN, pattern="thanks")
    assert try_rule(project_id=full_project.pk, rule=rule).dropped == []


def test_a_check_sees_the_turn_before(project: Project) -> None:
    """A rule that is not for answers keeps an answer, although the question was asked in an earlier request."""
    for role, content in ((Role.ASSISTANT, "Do you live in Porto?"), (Role.USER, "Porto it is")):
        turn = NewTurn(role=role, content=content)
        submission = Submission(project_id=project.pk, api_key_id=None, user_id="rui", session_id="s", turns=(turn,))
        accept(submission=submission)
    rule = Rule(name="porto", reason=Reason.PATTERN, pattern="porto")
    assert len(try_rule(project_id=project.pk, rule=rule).dropped) == 1
    assert not try_rule(project_id=project.pk, rule=rule.model_copy(update={"unless_answering": True})).dropped


def test_a_check_asks_the_database_little(
    project: Project, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    """However many sessions there are."""
    for number in range(12):
        turn = NewTurn(role=Role.USER, content=f"I live in Porto, for {number} years.")
        accept(
            submission=Submission(
                project_id=project.pk, api_key_id=None, user_id=f"u{number}", session_id="s", turns=(turn,)
            )
        )
    active_policy(project_id=project.pk)
    with django_assert_max_num_queries(6):
        found = try_rule(project_id=project.pk, rule=Rule(name="porto", reason=Reason.PATTERN, pattern="porto"))
    assert len(found.dropped) == 12
