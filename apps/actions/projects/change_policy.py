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
    """Set values by their path in a new active version; `base` is the number of the version that they were read from.

    Raises Unfit at the path that a policy doesn't take, Conflict when another version is active by now, NotFound.
    """
    with transaction.atomic():
        Project.objects.select_for_update().filter(pk=project_id).first()
        active = ConfigurationVersion.objects.filter(project_id=project_id, is_active=True).first()
        if active is None:
            raise NotFound("there is no such project, or it has no configuration")
        if active.number != base:
            raise Conflict(f"version {active.number} has been made meanwhile; read it and try again")
        policy = _changed(active.as_policy(), changes)
        if policy == active.as_policy():
            return active
        _check_model(policy.extraction.model, before=active.as_policy().extraction.model)
        return configure(project_id=project_id, policy=policy, note=note[:255] or _named(changes))


def _changed(policy: Policy, changes: Mapping[tuple[str, ...], Any]) -> Policy:
    values = policy.model_dump(mode="json")
    for path, value in changes.items():
        _put(values, path, value)
    try:
        return Policy.model_validate(values)
    except NotAPolicy as error:
        first = error.errors()[0]
        raise Unfit(str(first["msg"]), at="/" + "/".join(map(str, first["loc"]))) from error


def _check_model(spec: str, *, before: str) -> None:
    """Refuse to begin with a model that can't be asked: every turn would wait for a person. Raises Unfit."""
    problem = problem_with(spec) if spec not in ("", before) else ""
    if problem:
        raise Unfit(problem, at="/extraction/model")


def _put(values: dict[str, Any], path: tuple[str, ...], value: Any) -> None:
    for name in path[:-1]:
        values = values.setdefault(name, {})
    values[path[-1]] = value


def _named(changes: Mapping[tuple[str, ...], Any]) -> str:
    return f"{', '.join('.'.join(path) for path in changes)} changed"[:255]
