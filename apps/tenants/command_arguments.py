"""The project and the times that a command names, and the answer of the person who runs it."""

from datetime import datetime
from typing import Any

from django.core.management.base import CommandError
from django.utils.dateparse import parse_datetime

from apps.pipeline.core.input_validation import BadInput, checked_moment
from apps.tenants.models import Project
from apps.tenants.system_scope import SystemWork, system_scope


def project_named(slug: str) -> Project:
    """Return the project with a slug. Raises CommandError."""
    with system_scope(SystemWork.PROJECT_LOOKUP):
        project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"there is no project {slug!r}; see createproject")
    return project


def projects_named(slug: str | None) -> list[Project]:
    """Return the project with a slug, or all projects without one. Raises CommandError."""
    if slug:
        return [project_named(slug)]
    with system_scope(SystemWork.PROJECT_LOOKUP):
        return list(Project.objects.order_by("slug"))


def moment_named(options: dict[str, Any], name: str) -> datetime | None:
    """Return the time of an option, None if it is not given. Raises CommandError."""
    if not options[name]:
        return None
    try:
        moment = checked_moment(parse_datetime(options[name]), at=name)
    except (ValueError, BadInput):  # no such day, or one that no statement can be about
        moment = None
    if moment is None:
        raise CommandError(f"--{name} is no time such as 2026-05-01T00:00:00Z")
    return moment


def answer_to(question: str) -> str:
    """Ask on the terminal; without one, as in a scheduled job, the answer is empty."""
    try:
        return input(question).strip().lower()
    except EOFError:
        return ""
