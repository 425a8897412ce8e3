"""Members of a project, what a page shows them, and what they decide."""

import re
from uuid import UUID

from django.contrib.auth.models import User
from django.test import Client

from apps.memories.models import Memory
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project

HOME = "/console/test/"
NOBODY = UUID(int=7)
HTMX = {"HX-Request": "true"}


def member(name: str, project: Project, role: MemberRole) -> Client:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, project=project, role=role)
    client = Client()
    client.force_login(user)
    return client


def htmx_member(name: str, project: Project, role: MemberRole) -> Client:
    """A member whose requests ask for a part of a page."""
    client = member(name, project, role)
    client.defaults["HTTP_HX_REQUEST"] = "true"
    return client


def text_of(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(HOME + path)
    assert answer.status_code == status, path
    return answer.content.decode()


def seen(memory: Memory) -> str:
    """Return how a form names a memory, in the version that its page shows."""
    return f"{memory.pk}:{memory.version}"


def status_of(memory: Memory) -> str:
    return Memory.objects.get(pk=memory.pk).status


def undo_in(page: str) -> dict[str, list[str]]:
    """Return the form data of a toast's undo button."""
    given: dict[str, list[str]] = {}
    for name, value in re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)">', page):
        given.setdefault(name, []).append(value)
    return given
