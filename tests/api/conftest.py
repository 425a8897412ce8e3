"""A reviewer beside the callers of the API."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project


@pytest.fixture
def rita(project: Project) -> Client:
    """A reviewer in her browser."""
    user = User.objects.create_user("rita")
    Membership.objects.create(user=user, project=project, role=MemberRole.REVIEWER)
    browser = Client(headers={"HX-Request": "true"})
    browser.force_login(user)
    return browser
