"""Members: roles are set and removed, and a project always has an admin."""

import pytest
from django.contrib.auth.models import User

from apps.common.errors import Conflict, NotFound, Unfit
from apps.pipeline.core.identifiers import new_id
from apps.projects.services import remove_member, set_member
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def chief(project: Project) -> Membership:
    User.objects.create(username="chief")
    return set_member(project_id=project.id, username="chief", role=MemberRole.ADMIN)


def test_a_person_becomes_a_member_and_changes_roles(project: Project, chief: Membership) -> None:
    User.objects.create(username="rita")
    set_member(project_id=project.id, username=" rita ", role=MemberRole.VIEWER)
    member = set_member(project_id=project.id, username="rita", role=MemberRole.REVIEWER)
    assert member.role == MemberRole.REVIEWER
    assert Membership.objects.filter(project=project).count() == 2


def test_the_last_admin_stays(project: Project, chief: Membership) -> None:
    with pytest.raises(Conflict):
        set_member(project_id=project.id, username="chief", role=MemberRole.VIEWER)
    with pytest.raises(Conflict):
        remove_member(project_id=project.id, membership_id=chief.pk)
    User.objects.create(username="second")
    set_member(project_id=project.id, username="second", role=MemberRole.ADMIN)
    remove_member(project_id=project.id, membership_id=chief.pk)
    assert [member.user.username for member in Membership.objects.filter(project=project)] == ["second"]


def test_nobody_unknown_or_inactive_becomes_a_member(project: Project) -> None:
    User.objects.create(username="gone", is_active=False)
    for name in ("nobody", "gone", ""):
        with pytest.raises(Unfit):
            set_member(project_id=project.id, username=name, role=MemberRole.VIEWER)


def test_members_of_others_are_out_of_reach(project: Project, other_project: Project, chief: Membership) -> None:
    with pytest.raises(NotFound):
        remove_member(project_id=other_project.id, membership_id=chief.pk)
    with pytest.raises(NotFound):
        set_member(project_id=new_id(), username="chief", role=MemberRole.VIEWER)
