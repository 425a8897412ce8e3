"""Saving and deleting a rule creates a version, or is refused and creates none."""

import pytest

from apps.common.errors import NotFound, Unfit
from apps.pipeline.core.enums import Reason
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import Rule
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion
from apps.tuning.rules import delete_rule, save_rule

RULE = Rule(name="weather", reason=Reason.META_TALK, pattern="weather forecast", order=5)


def rules(project: Project) -> dict[str, Rule]:
    active = ConfigurationVersion.objects.get(project=project, is_active=True)
    return {rule.name: rule for rule in active.as_policy().pre_filter.rules}


def test_a_new_rule_joins_the_others(project: Project) -> None:
    before = rules(project)

    version = save_rule(project_id=project.pk, rule=RULE)

    assert version.is_active
    assert version.note == "rule weather saved"
    assert rules(project) == {**before, "weather": RULE}


def test_a_rule_takes_the_place_of_the_one_of_its_name(project: Project) -> None:
    save_rule(project_id=project.pk, rule=RULE)
    changed = RULE.model_copy(update={"enabled": False})

    save_rule(project_id=project.pk, rule=changed)

    assert rules(project)["weather"] == changed


def test_earlier_versions_stay_as_they_were(project: Project) -> None:
    first = ConfigurationVersion.objects.get(project=project)

    save_rule(project_id=project.pk, rule=RULE)

    assert ConfigurationVersion.objects.get(pk=first.pk).policy == first.policy


@pytest.mark.parametrize("pattern", ["(", "x*", "a{1001}", "(?=a)b"])
def test_a_pattern_that_can_not_be_used_makes_no_version(project: Project, pattern: str) -> None:
    with pytest.raises(Unfit) as refused:
        save_rule(project_id=project.pk, rule=RULE.model_copy(update={"pattern": pattern}))

    assert refused.value.at == "/pattern"
    assert ConfigurationVersion.objects.filter(project=project).count() == 1


def test_a_deleted_rule_is_gone_from_the_new_version(project: Project) -> None:
    save_rule(project_id=project.pk, rule=RULE)

    delete_rule(project_id=project.pk, name="weather")

    assert "weather" not in rules(project)


def test_an_unknown_rule_can_not_be_deleted(project: Project) -> None:
    with pytest.raises(NotFound):
        delete_rule(project_id=project.pk, name="nowhere")

    assert ConfigurationVersion.objects.filter(project=project).count() == 1


def test_an_unknown_project_has_no_rules(db: None) -> None:
    with pytest.raises(NotFound):
        save_rule(project_id=new_id(), rule=RULE)
