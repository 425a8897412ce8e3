"""A project with a little of everything, and people who look at it."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.memories.models import Memory
from apps.outbox.models import WorkerHeartbeat
from apps.projects.services import create_project
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests import emptied, kept_rows
from tests.console.filling import fill
from tests.console.members import htmx_member, member
from tests.kept_rows import Kept


@pytest.fixture
def admin(db: None) -> Client:
    """A browser that a superuser is logged in with."""
    client = Client()
    client.force_login(User.objects.create_superuser("chief"))
    return client


@pytest.fixture
def viewer(full_project: Project) -> Client:
    return member("vic", full_project, MemberRole.VIEWER)


@pytest.fixture
def tuner(full_project: Project) -> Client:
    return member("tess", full_project, MemberRole.ADMIN)


@pytest.fixture
def rita(project: Project) -> Client:
    """A reviewer whose requests ask for parts of pages."""
    return htmx_member("rita", project, MemberRole.REVIEWER)


@pytest.fixture(scope="session")
def _kept_project(django_db_setup: None, django_db_blocker: Any) -> None:
    """Fill a project once, and keep its rows: to process its turns anew took a tenth of a second for each test."""
    with django_db_blocker.unblock():
        if kept_rows.are_kept(Kept.FULL_PROJECT):
            return  # for a file outside of this folder
        try:
            fill(create_project(name="Test", slug="test"))
            kept_rows.keep(Kept.FULL_PROJECT)
        finally:
            emptied.empty()


@pytest.fixture
def project(request: pytest.FixtureRequest, db: None) -> Project:
    """The project of the test, which is the full one for tests that use it."""
    if "full_project" not in request.fixturenames:
        return kept_rows.new_project()
    full = kept_rows.full_project()
    WorkerHeartbeat.objects.update(seen_at=timezone.now())  # else who is there depends on when the rows were kept
    return full


@pytest.fixture
def full_project(_kept_project: None, project: Project) -> Project:
    """A project with at least one row in every table, hostile text in those that take a caller's.

    A test names it among its arguments: asked for later, it would not be the project of the test.
    """
    assert Memory.objects.filter(project=project).exists()
    return project
