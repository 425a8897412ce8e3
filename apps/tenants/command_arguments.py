"""The projects that a command names, and the answer of the person who runs it."""

from django.core.management.base import CommandError

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


def answer_to(question: str) -> str:
    """Ask on the terminal; without one, as in a scheduled job, the answer is empty."""
    try:
        return input(question).strip().lower()
    except EOFError:
        return ""
