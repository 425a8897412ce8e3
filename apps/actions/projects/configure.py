"""Give a project a new configuration version."""

from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from apps.actions.ledger.actor import current_person
from apps.actions.ledger.record import record
from apps.actions.projects.policy_changes import policy_changes
from apps.actions.prompt_versions import prompt_versions
from apps.pipeline.core.policy import Policy, Rule
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule

MOST_PATHS = 100  # changed settings that one ledger entry names
MOST_NOTE = 255


def configure(*, project_id: UUID, policy: Policy, note: str = "") -> ConfigurationVersion:
    """Make a policy the active version of a project; earlier versions stay, unchanged."""
    with transaction.atomic():
        Project.objects.select_for_update().get(id=project_id)
        versions = ConfigurationVersion.objects.filter(project_id=project_id)
        before = versions.filter(is_active=True).first()
        versions.filter(is_active=True).update(is_active=False)
        update_rules(project_id=project_id, policy=policy)
        made = add_version(
            project_id=project_id, policy=policy, note=note, base=before.number if before else None, activates=True
        )
        record_version(made, before=before)
    return made


def add_version(
    *, project_id: UUID, policy: Policy, note: str, base: int | None, activates: bool = False
) -> ConfigurationVersion:
    """Add a version by whoever acts, a draft unless it `activates`; the caller has locked the project."""
    last = ConfigurationVersion.objects.filter(project_id=project_id).aggregate(last=Max("number"))["last"] or 0
    return ConfigurationVersion.objects.create(
        project_id=project_id,
        number=last + 1,
        policy=policy.model_dump(mode="json"),
        note=note[:MOST_NOTE],
        author_id=current_person(),
        base=base,
        # what decides beside a policy, as the server has it now
        made_with={"model": settings.MODEL, "embedder": settings.EMBEDDER, "prompts": prompt_versions()},
        is_active=activates,
        activated_at=timezone.now() if activates else None,
    )


def record_version(made: ConfigurationVersion, *, before: ConfigurationVersion | None) -> None:
    """Write the paths of the settings that an activation changes into the ledger; rules are settings, too."""
    changes = policy_changes(before.as_policy() if before else Policy(), made.as_policy())
    details = {"number": made.number, "changed": [each.name for each in changes][:MOST_PATHS]}
    record(
        project_id=made.project_id,
        verb="configured",
        object_kind="configuration",
        object_id=made.id,
        details=details,
    )


def update_rules(*, project_id: UUID, policy: Policy) -> None:
    """Update the rows of the editable rules from the active policy; hit counts stay."""
    rules = policy.pre_filter.rules
    PreFilterRule.objects.filter(project_id=project_id).exclude(name__in=[rule.name for rule in rules]).delete()
    PreFilterRule.objects.bulk_create(
        (PreFilterRule(project_id=project_id, **rule.model_dump(mode="json")) for rule in rules),
        update_conflicts=True,
        unique_fields=("project", "name"),
        update_fields=[name for name in Rule.model_fields if name != "name"],
    )
