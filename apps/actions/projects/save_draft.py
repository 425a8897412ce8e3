"""Save changed settings as a draft: a version that is compared and replayed before it decides anything."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction

from apps.actions.errors import NotFound
from apps.actions.projects.change_policy import changed_policy
from apps.actions.projects.configure import add_version
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion


def save_draft(
    *, project_id: UUID, base: int, changes: Mapping[tuple[str, ...], Any], note: str = ""
) -> ConfigurationVersion:
    """Set values by their path in a new draft that is made from version `base`, which may be a draft, too.

    Without a difference the base is returned. Raises Unfit for an invalid value or model, NotFound.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        made_from = ConfigurationVersion.objects.filter(project_id=project_id, number=base).first()
        if made_from is None:
            raise NotFound("there is no such version")
        before = made_from.as_policy()
        policy = changed_policy(before, changes)
        if policy == before:
            return made_from
        changed = ", ".join(".".join(path) for path in changes)
        return add_version(project_id=project_id, policy=policy, note=note or f"{changed} changed", base=base)
