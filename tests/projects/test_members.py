"""Members of a project are out of reach of others."""

import pytest
from django.contrib.auth.models import User

from apps.common.errors import NotFound
from apps.pipeline.core.identifiers import new_id
from apps.projects.services import remove_member, set_member
from apps.tenants.enums import MemberRole
from apps.tenants.models import Project

pytestmark = pytest.mark.django_db


def test_members_of_others_are_out_of_reach(project: Project, other_project: Project) -> None:
    User.objects.create(username="chief")
    chief = set_member(project_id=project.id, username="chief", role=MemberRole.ADMIN)
    with pytest.raises(NotFound):
        remove_member(project_id=other_project.id, membership_id=chief.pk)
    with pytest.raises(NotFound):
        set_member(project_id=new_id(), username="chief", role=MemberRole.VIEWER)
