"""Members of a project, and what a page shows them."""

from uuid import UUID

from django.contrib.auth.models import User
from django.test import Client

from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project

HOME = "/console/test/"
NOBODY = UUID(int=7)


def member(name: str, project: Project, role: MemberRole) -> Client:
    user = User.objects.create_user(name)
    Membership.objects.create(user=user, project=project, role=role)
    client = Client()
    client.force_login(user)
    return client


def text_of(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(HOME + path)
    assert answer.status_code == status, path
    return answer.content.decode()
