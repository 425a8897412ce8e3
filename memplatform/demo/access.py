"""The project, API key and console login of the demo, created once and stored in private files."""

import os
import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User

from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.projects.services import create_project
from apps.tenants import keys
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from memplatform.settings import DATA_DIR

SLUG = "demo"
LOGIN = "demo"


@dataclass(frozen=True, slots=True)
class Access:
    """The project's slug and API key, and the user name and password of the console."""

    project: str
    key: str
    login: str
    password: str


def ensure_access() -> Access:
    """Create what is missing; secrets are stored in files that only their owner can read."""
    with system_scope(SystemWork.PROJECT_LOOKUP):
        project = Project.objects.filter(slug=SLUG).first()
    project = project or create_project(name="Demo", slug=SLUG)
    password = _kept("demo-password", lambda: secrets.token_urlsafe(12))
    _ensure_login(password)
    return Access(project=SLUG, key=_key(project), login=LOGIN, password=password)


def write_address(address: str) -> None:
    """Store the server's address beside the key, for the examples of the documentation."""
    (DATA_DIR / "demo-url").write_text(address)


def _key(project: Project) -> str:
    """Return the stored key, or a new one if the database doesn't know it."""
    file = DATA_DIR / "demo-key"
    known = keys.recognise(file.read_text()) if file.exists() else None
    if known is None or known.project_id != project.pk:
        file.unlink(missing_ok=True)
    scopes = [Scope.READ, Scope.WRITE]
    with tenant_scope(project_id=project.pk):
        return _kept(file.name, lambda: create_key(project_id=project.pk, name="demo", scopes=scopes).text)


def _ensure_login(password: str) -> None:
    user, made = User.objects.get_or_create(username=LOGIN, defaults={"is_staff": True, "is_superuser": True})
    if made or not user.check_password(password):
        user.set_password(password)
        user.save(update_fields=["password"])


def _kept(name: str, make: Callable[[], str]) -> str:
    """Return the text of a private file in the data folder, creating it on the first call."""
    file: Path = DATA_DIR / name
    if not file.exists():
        DATA_DIR.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
            opened.write(make())
    return file.read_text()
