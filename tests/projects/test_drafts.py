"""Drafts: versions that are compared and replayed before they decide anything."""

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from apps.common.errors import Conflict, NotFound
from apps.memories.ledger.actor import acting_as
from apps.pipeline.core.enums import Reason
from apps.pipeline.core.policy import Policy, Rule
from apps.projects.services import Preset, activate_version, change_policy, preset_values, prompt_versions, save_draft
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule
from apps.traces.policies import active_policy
from apps.tuning.rules import save_rule

pytestmark = pytest.mark.django_db
LESS = {("extraction", "min_confidence"): 0.4}


def draft_of(project: Project, base: int = 1) -> ConfigurationVersion:
    return save_draft(project_id=project.pk, base=base, changes=LESS)


def test_a_draft_is_made_from_a_draft_and_keeps_its_changes(project: Project) -> None:
    draft_of(project)
    second = save_draft(project_id=project.pk, base=2, changes={("extraction", "max_per_turn"): 3})
    extraction = second.as_policy().extraction
    assert (second.number, extraction.min_confidence, extraction.max_per_turn) == (3, 0.4, 3)
    assert save_draft(project_id=project.pk, base=3, changes={}).number == 3


def test_a_rule_of_a_draft_is_edited_once_it_is_active(project: Project) -> None:
    rule = Rule(name="porto", reason=Reason.PATTERN, pattern="porto")
    draft = save_rule(project_id=project.pk, rule=rule, as_draft=True)
    named = PreFilterRule.objects.filter(project=project, name="porto")
    assert not named.exists()
    activate_version(project_id=project.pk, number=draft.number, seen=1)
    assert named.exists()


def test_what_was_active_is_restored_and_not_activated(project: Project) -> None:
    change_policy(project_id=project.pk, base=1, changes=LESS)
    with pytest.raises(Conflict):
        activate_version(project_id=project.pk, number=1, seen=2)
    with pytest.raises(NotFound):
        activate_version(project_id=project.pk, number=9, seen=2)


def test_a_version_names_who_and_what_made_it(project: Project) -> None:
    tess = User.objects.create_user("tess")
    with acting_as(f"person:{tess.pk}"):
        draft = draft_of(project)
    assert draft.author == tess
    assert draft.made_with == {"model": settings.MODEL, "embedder": settings.EMBEDDER, "prompts": prompt_versions()}
    assert ConfigurationVersion.objects.get(project=project, number=1).author is None


def test_presets_differ_in_one_direction() -> None:
    careful, balanced, eager = (preset_values(preset) for preset in Preset)
    assert careful.keys() == balanced.keys() == eager.keys()
    defaults = Policy().model_dump(mode="json")
    for path, value in balanced.items():
        found = defaults
        for name in path:
            found = found[name]
        assert found == value
        assert careful[path] < value < eager[path] or careful[path] > value > eager[path], path


def test_a_preset_becomes_a_draft(project: Project) -> None:
    draft = save_draft(project_id=project.pk, base=1, changes=preset_values(Preset.CAREFUL), note="careful")
    policy = draft.as_policy()
    assert (policy.confidence.review_below, policy.pre_filter) == (
        0.65,
        active_policy(project_id=project.pk).pre_filter,
    )
