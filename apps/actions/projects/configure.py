"""Give a project a new configuration version."""

from uuid import UUID

from django.db import transaction
from django.db.models import Max

from apps.pipeline.core.policy import Policy, Rule
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, PreFilterRule


def configure(*, project_id: UUID, policy: Policy, note: str = "") -> ConfigurationVersion:
    """Make a policy the active version of a project; earlier versions stay, unchanged."""
    with transaction.atomic():
        Project.objects.select_for_update().get(id=project_id)
        versions = ConfigurationVersion.objects.filter(project_id=project_id)
        last = versions.aggregate(last=Max("number"))["last"] or 0
        versions.filter(is_active=True).update(is_active=False)
        _keep_rules(project_id=project_id, policy=policy)
        return ConfigurationVersion.objects.create(
            project_id=project_id,
            number=last + 1,
            policy=policy.model_dump(mode="json"),
            note=note,
            is_active=True,
        )


def _keep_rules(*, project_id: UUID, policy: Policy) -> None:
    """Bring the editable rules in line with the policy, their hit counts kept."""
    rows = [PreFilterRule(project_id=project_id, **rule.model_dump()) for rule in policy.pre_filter.rules]
    PreFilterRule.objects.filter(project_id=project_id).exclude(name__in=[row.name for row in rows]).delete()
    PreFilterRule.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["project", "name"],
        update_fields=[name for name in Rule.model_fields if name != "name"],
    )
