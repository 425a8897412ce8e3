"""Change a project's name and limits."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import transaction

from apps.actions.errors import NotFound, Unfit
from apps.actions.ledger.record import record
from apps.tenants.models import Project

LIMITS = ("queue_limit", "requests_per_minute", "max_memories", "max_model_usd_per_day")
CHANGEABLE = ("name", *LIMITS)


def update_project(*, project_id: UUID, changes: Mapping[str, Any]) -> Project:
    """Set fields of CHANGEABLE; the ledger gets the names of those that changed, and limits with both values.

    Raises Unfit for an invalid value, NotFound.
    """
    with transaction.atomic():
        project = Project.objects.select_for_update().filter(pk=project_id).first()
        if project is None:
            raise NotFound("there is no such project")
        changed = {name: getattr(project, name) for name in CHANGEABLE if name in changes}
        changed = {name: value for name, value in changed.items() if value != changes[name]}
        if not changed:
            return project
        for name in changed:
            setattr(project, name, changes[name])
        try:
            project.clean_fields()
        except ValidationError as error:
            field, messages = next(iter(error.message_dict.items()))
            raise Unfit(f"{field}: {messages[0]}", at=f"/{field}") from error
        project.save(update_fields=list(changed))
        limits = {name: [_number(changed[name]), _number(changes[name])] for name in changed if name in LIMITS}
        details = {"fields": sorted(changed), "limits": limits}
        record(
            project_id=project.pk, verb="project_changed", object_kind="project", object_id=project.pk, details=details
        )
    return project


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
