"""Activate a draft: the next requests run under it."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.projects.configure import record_version, update_rules
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion


def activate_version(*, project_id: UUID, number: int, seen: int) -> ConfigurationVersion:
    """Make a draft the active version; `seen` is the number of the active version that the caller has compared.

    Raises NotFound, Conflict if another version is active by now, or if the version was active before: such a one is
    restored as a new version.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        versions = ConfigurationVersion.objects.filter(project_id=project_id)
        draft = versions.filter(number=number).first()
        if draft is None:
            raise NotFound("there is no such version")
        if not draft.is_draft:
            raise Conflict("only drafts are activated; restore this version")
        active = versions.filter(is_active=True).first()
        if active is not None and active.number != seen:
            raise Conflict(f"version {active.number} is active by now; compare it and try again")
        versions.filter(is_active=True).update(is_active=False)
        draft.is_active, draft.activated_at = True, timezone.now()
        draft.save(update_fields=["is_active", "activated_at"])
        update_rules(project_id=project_id, policy=draft.as_policy())
        record_version(draft, before=active)
    return draft
