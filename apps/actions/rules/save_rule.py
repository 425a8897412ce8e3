"""Save one pre-filter rule in a new configuration version."""

from collections.abc import Callable
from uuid import UUID

from django.db import transaction

from apps.actions.errors import NotFound, Unfit
from apps.actions.projects.configure import add_version, configure
from apps.pipeline.core.policy import Policy, Rule
from apps.pipeline.prefilter.matcher import matcher_for
from apps.pipeline.prefilter.rule_patterns import PatternRefused, check_pattern
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion
from apps.traces.policies import active_policy

Rules = tuple[Rule, ...]


def save_rule(*, project_id: UUID, rule: Rule) -> ConfigurationVersion:
    """Replace the rule of the same name, or add the rule, in a new active version.

    Raises Unfit for a pattern that is invalid, alone or with the others; NotFound for an unknown project.
    """
    return change_rules(
        project_id=project_id,
        change=lambda rules: with_rule(rules, rule),
        note=f"rule {rule.name} saved",
    )


def draft_rule(*, project_id: UUID, rule: Rule) -> ConfigurationVersion:
    """Replace or add the rule in a draft that is made from the active version. Raises what save_rule raises."""
    with transaction.atomic():
        if not Project.objects.select_for_update().filter(id=project_id).exists():
            raise NotFound("there is no such project")
        active = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
        policy = active.as_policy()
        changed = with_rules(policy, with_rule(policy.pre_filter.rules, rule))
        note = f"rule {rule.name} saved"
        return add_version(project_id=project_id, policy=changed, note=note, base=active.number)


def with_rule(rules: Rules, rule: Rule) -> Rules:
    """Return rules in which one replaces that of the same name or is added. Raises Unfit for an invalid pattern."""
    try:
        check_pattern(rule.pattern)
    except PatternRefused as refused:
        raise Unfit(str(refused), at="/pattern") from refused
    return (*(each for each in rules if each.name != rule.name), rule)


def change_rules(*, project_id: UUID, change: Callable[[Rules], Rules], note: str) -> ConfigurationVersion:
    """Create a new active version with other rules; the project is locked, so that no concurrent change is lost.

    Raises Unfit for rules that don't compile together, NotFound for an unknown project.
    """
    with transaction.atomic():
        if not Project.objects.select_for_update().filter(id=project_id).exists():
            raise NotFound("there is no such project")
        policy = active_policy(project_id=project_id)
        changed = with_rules(policy, change(policy.pre_filter.rules))
        return configure(project_id=project_id, policy=changed, note=note)


def with_rules(policy: Policy, rules: Rules) -> Policy:
    """Return a policy with other rules. Raises Unfit for rules that don't compile together."""
    changed = policy.pre_filter.model_copy(update={"rules": rules})
    try:
        matcher_for(changed)
    except PatternRefused as refused:
        raise Unfit(str(refused), at="/pattern") from refused
    return policy.model_copy(update={"pre_filter": changed})
