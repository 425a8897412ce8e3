"""Give a project a new configuration version."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Max
from django.utils import timezone
from psycopg.types.json import Jsonb

from apps.actions.ledger.actor import current_person
from apps.actions.ledger.record import record
from apps.actions.projects.policy_changes import policy_changes
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.policy import Policy, Rule
from apps.pipeline.prompts.versions import prompt_versions
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


_FIELDS = tuple(Rule.model_fields)
_COLUMNS = ", ".join(f'"{name}"' for name in ("id", "project_id", "hit_count", *_FIELDS))
_CHANGES = ", ".join(f'"{name}" = excluded."{name}"' for name in _FIELDS if name != "name")
# One parameter for all rows: with one per value, the statement takes ten times as long to prepare as to run.
_UPSERT = f"""
insert into traces_prefilterrule ({_COLUMNS})
select {_COLUMNS} from jsonb_populate_recordset(null::traces_prefilterrule, %s)
on conflict (project_id, name) do update set {_CHANGES}
"""  # noqa: S608 - names of our columns


def update_rules(*, project_id: UUID, policy: Policy) -> None:
    """Update the rows of the editable rules from the active policy; hit counts stay."""
    rules = policy.pre_filter.rules
    PreFilterRule.objects.filter(project_id=project_id).exclude(name__in=[rule.name for rule in rules]).delete()
    mine = {"project_id": str(project_id), "hit_count": 0}
    values: list[Any] = [Jsonb([{"id": str(new_id()), **mine, **rule.model_dump()} for rule in rules])]
    with connection.cursor() as cursor:
        cursor.execute(_UPSERT, values)
