"""The project that a command names."""

from django.core.management.base import CommandError

from apps.tenants.models import Project


def project_named(slug: str) -> Project:
    """Return the project with a slug. Raises CommandError."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        raise CommandError(f"there is no project {slug!r}; see createproject")
    return project
