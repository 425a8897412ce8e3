"""Callers of the API beside the agent: an admin's key, and a reviewer in her browser."""

import pytest
from django.test import Client
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project
from tests.conftest import MakeClient
from tests.console.members import htmx_member


@pytest.fixture
def admin(client_of: MakeClient, project: Project) -> APIClient:
    return client_of(project, Scope.ADMIN)


@pytest.fixture
def rita(project: Project) -> Client:
    """A reviewer in her browser."""
    return htmx_member("rita", project, MemberRole.REVIEWER)
