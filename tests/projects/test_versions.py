"""Configuration versions: earlier ones can be restored, and concurrent changes of settings are not overwritten."""

from typing import Any

import pytest

from apps.common.errors import Conflict, NotFound, Unfit
from apps.pipeline.core.enums import Reason
from apps.pipeline.core.policy import Rule
from apps.projects.services import change_policy, restore_version
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule
from apps.tuning.rules import save_rule

pytestmark = pytest.mark.django_db

RULE = Rule(name="shop", reason=Reason.PATTERN, pattern="order number")


def active(project: Project) -> ConfigurationVersion:
    return ConfigurationVersion.objects.get(project=project, is_active=True)


def test_returning_makes_a_new_version_of_the_earlier_policy(project: Project) -> None:
    first = active(project)
    save_rule(project_id=project.id, rule=RULE)
    restored = restore_version(project_id=project.id, number=first.number)
    assert (restored.number, restored.note) == (3, "back to version 1")
    assert restored.as_policy() == first.as_policy()
    assert active(project) == restored
    assert not PreFilterRule.objects.filter(project=project, name="shop").exists()
    assert ConfigurationVersion.objects.get(project=project, number=2).as_policy().pre_filter.rules[-1] == RULE


def test_the_active_version_and_unknown_ones_are_refused(project: Project, other_project: Project) -> None:
    save_rule(project_id=other_project.id, rule=RULE)
    with pytest.raises(Conflict):
        restore_version(project_id=project.id, number=1)
    with pytest.raises(NotFound):
        restore_version(project_id=project.id, number=2)


def test_a_model_that_can_not_be_asked_is_refused_where_it_is_named(project: Project, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = ""
    with pytest.raises(Unfit, match="needs ANTHROPIC_API_KEY") as refused:
        change_policy(project_id=project.id, base=1, changes={("extraction", "model"): "anthropic:claude-sonnet-4-5"})
    assert refused.value.at == "/extraction/model"
    settings.ANTHROPIC_API_KEY = "k"
    change_policy(project_id=project.id, base=1, changes={("extraction", "model"): "anthropic:claude-sonnet-4-5"})
    settings.ANTHROPIC_API_KEY = ""
    assert change_policy(project_id=project.id, base=2, changes={("dedupe", "neighbours"): 7}).number == 3


def test_the_same_values_make_no_version(project: Project) -> None:
    assert change_policy(project_id=project.id, base=1, changes={("dedupe", "neighbours"): 5}).number == 1
