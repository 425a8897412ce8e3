"""The project, API key and console login of the demo, created once and stored in private files."""

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from django.contrib.auth.models import User

from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.projects.services import create_project
from apps.tenants import keys
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from memplatform.settings import DATA_DIR

NAME = "demo"  # of the project, its key and the login


@dataclass(frozen=True, slots=True)
class Access:
    """The project with its API key, and the password of the console."""

    project_id: UUID
    key: str
    password: str


def ensure_access() -> Access:
    """Create what is missing; secrets are stored in files that only their owner can read."""
    with system_scope(SystemWork.PROJECT_LOOKUP):
        project = Project.objects.filter(slug=NAME).first()
    project = project or create_project(name="Demo", slug=NAME)
    password = _kept(DATA_DIR / "demo-password", lambda: secrets.token_urlsafe(12))
    user, made = User.objects.get_or_create(username=NAME, defaults={"is_staff": True, "is_superuser": True})
    if made or not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])
    file = DATA_DIR / "demo-key"
    known = keys.recognise(file.read_text()) if file.exists() else None
    if known is None or known.project_id != project.pk:  # the database doesn't know the stored key
        file.unlink(missing_ok=True)
    with tenant_scope(project_id=project.pk):
        scopes = [Scope.READ, Scope.WRITE]
        key = _kept(file, lambda: create_key(project_id=project.pk, name=NAME, scopes=scopes).text)
    return Access(project.pk, key, password)


def _kept(file: Path, make: Callable[[], str]) -> str:
    """Return the text of a private file, creating it on the first call."""
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
            opened.write(make())
    return file.read_text()
