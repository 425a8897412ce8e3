"""Change settings of a project's policy."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from pydantic import ValidationError as NotAPolicy

from apps.actions.errors import Conflict, NotFound, Unfit
from apps.actions.projects.configure import configure
from apps.pipeline.core.policy import Policy
from apps.providers.entries import problem_with
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion


def change_policy(
    *, project_id: UUID, base: int, changes: Mapping[tuple[str, ...], Any], note: str = ""
) -> ConfigurationVersion:
    """Set values by their path in a new active version; `base` is the number of the version that the caller has seen.

    Raises Unfit for an invalid value, Conflict if another version is active by now, NotFound.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        active = ConfigurationVersion.objects.filter(project_id=project_id, is_active=True).first()
        if active is None:
            raise NotFound("there is no such project, or it has no configuration")
        if active.number != base:
            raise Conflict(f"version {active.number} is active by now; read it and try again")
        policy = changed_policy(active.as_policy(), changes)
        if policy == active.as_policy():
            return active
        changed = ", ".join(".".join(path) for path in changes)
        return configure(project_id=project_id, policy=policy, note=(note or f"{changed} changed")[:255])


def changed_policy(policy: Policy, changes: Mapping[tuple[str, ...], Any]) -> Policy:
    """Return the policy with values set by their path.

    Raises Unfit for values that a policy does not allow, and for another model that can't be called.
    """
    values = policy.model_dump(mode="json")
    for (*parents, name), value in changes.items():
        section = values
        for parent in parents:
            section = section.setdefault(parent, {})
        section[name] = value
    try:
        changed = Policy.model_validate(values)
    except NotAPolicy as error:
        first = error.errors()[0]
        raise Unfit(str(first["msg"]), at="/" + "/".join(map(str, first["loc"]))) from error
    model = changed.extraction.model
    if model not in ("", policy.extraction.model) and (problem := problem_with(model)):
        raise Unfit(problem, at="/extraction/model")
    return changed
