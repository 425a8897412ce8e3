"""Create a project."""

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from apps.actions.errors import Conflict, Unfit
from apps.actions.ledger.record import record
from apps.actions.projects.configure import configure
from apps.pipeline.core.policy import Policy, PreFilterPolicy
from apps.pipeline.prefilter.default_rules import default_rules
from apps.tenants.models import Project
from apps.tenants.system_scope import SystemWork, system_scope

RESERVED = frozenset({"login", "logout"})  # other pages have these addresses below /console/


def create_project(*, name: str, slug: str) -> Project:
    """Create a project with the default policy as its first configuration version.

    Raises Unfit for an invalid name or slug, Conflict if the slug is taken.
    """
    if slug in RESERVED:
        raise Unfit(f"slug: {slug!r} is the address of another page", at="/slug")
    project = Project(name=name.strip(), slug=slug)
    try:
        project.clean_fields()
        with system_scope(SystemWork.PROJECT_CREATION), transaction.atomic():
            project.save(force_insert=True)
            record(project_id=project.id, verb="project_created", object_kind="project", object_id=project.id)
            policy = Policy(pre_filter=PreFilterPolicy(rules=default_rules()))
            configure(project_id=project.id, policy=policy, note="defaults")
    except ValidationError as error:
        field, messages = next(iter(error.message_dict.items()))
        raise Unfit(f"{field}: {messages[0]}", at=f"/{field}") from error
    except IntegrityError as error:
        raise Conflict(f"there is a project {slug!r} already") from error
    return project
