"""Keys and members: made, changed, taken away and given back."""

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.actions.keys.create_key import create_key
from apps.actions.keys.restore_key import UNDO_PERIOD
from apps.pipeline.core.enums import MemberRole, Scope
from apps.tenants.models import ApiKey, Membership, Project
from tests.console.members import HOME, text_of

pytestmark = pytest.mark.django_db


def test_a_key_is_shown_once(tuner: Client, full_project: Project) -> None:
    given = {"name": "agent", "scopes": ["read"], "expires_at": "2999-01-01"}
    answer = tuner.post(f"{HOME}keys/", given)
    key = ApiKey.objects.get(project=full_project, name="agent")
    assert f"mp_{key.prefix}_" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert f"mp_{key.prefix}_" not in text_of(tuner, "keys/")


@pytest.mark.parametrize(
    "given",
    [
        {"name": "", "scopes": ["read"]},
        {"name": "agent"},
        {"name": "agent", "scopes": ["root"]},
        {"name": "agent", "scopes": ["read"], "expires_at": "2001-01-01"},
    ],
)
def test_a_key_that_makes_no_sense_is_refused(tuner: Client, full_project: Project, given: dict[str, object]) -> None:
    assert tuner.post(f"{HOME}keys/", given).status_code == 422
    assert not ApiKey.objects.filter(project=full_project).exists()


def test_a_key_is_revoked_but_not_that_of_another_project(
    tuner: Client, full_project: Project, other_project: Project
) -> None:
    mine = create_key(project_id=full_project.pk, name="mine", scopes=[Scope.READ]).key
    theirs = create_key(project_id=other_project.pk, name="theirs", scopes=[Scope.READ]).key
    for key in (mine, theirs):
        tuner.post(f"{HOME}keys/{key.pk}/revoke/")
    assert [key.name for key in ApiKey.objects.filter(revoked_at=None)] == ["theirs"]


def test_a_revoked_key_comes_back_for_a_short_while(
    tuner: Client, full_project: Project, other_project: Project
) -> None:
    mine = create_key(project_id=full_project.pk, name="mine", scopes=[Scope.READ]).key
    theirs = create_key(project_id=other_project.pk, name="theirs", scopes=[Scope.READ]).key
    page = tuner.post(f"{HOME}keys/{mine.pk}/revoke/", follow=True).content.decode()
    assert f"{HOME}keys/{mine.pk}/restore/" in page
    tuner.post(f"{HOME}keys/{mine.pk}/restore/")
    assert ApiKey.objects.filter(revoked_at=None, pk=mine.pk).exists()

    ApiKey.objects.update(revoked_at=timezone.now() - UNDO_PERIOD)
    for key in (mine, theirs):
        assert "Nothing was changed" in tuner.post(f"{HOME}keys/{key.pk}/restore/", follow=True).content.decode()
    assert not ApiKey.objects.filter(revoked_at=None).exists()


def test_members_come_change_and_go(tuner: Client, full_project: Project) -> None:
    User.objects.create_user("rita")
    tuner.post(f"{HOME}members/", {"username": "rita", "role": "viewer"})
    tuner.post(f"{HOME}members/", {"username": "rita", "role": "reviewer"})
    rita = Membership.objects.get(project=full_project, user__username="rita")
    assert rita.role == MemberRole.REVIEWER
    tuner.post(f"{HOME}members/{rita.pk}/remove/")
    assert not Membership.objects.filter(pk=rita.pk).exists()


def test_a_role_that_was_changed_or_taken_is_given_back(tuner: Client, full_project: Project) -> None:
    def role() -> str | None:
        return Membership.objects.filter(project=full_project, user=rita).values_list("role", flat=True).first()

    def done(address: str, **form: str) -> str:
        """Do it, and return the address of its undo."""
        page = tuner.post(address, form, follow=True).content.decode()
        return re.findall(rf'action="({HOME}members/[^"]+)">.{{,200}}data-undo', page)[-1]

    rita = User.objects.create_user("rita")
    back = done(f"{HOME}members/", username="rita", role="viewer")
    tuner.post(back)
    assert role() is None
    done(f"{HOME}members/", username="rita", role="viewer")
    tuner.post(done(f"{HOME}members/", username="rita", role="reviewer"))
    assert role() == MemberRole.VIEWER
    member = Membership.objects.get(project=full_project, user=rita)
    back = done(f"{HOME}members/{member.pk}/remove/")
    assert role() is None
    tuner.post(back)
    assert role() == MemberRole.VIEWER


def test_nobody_unknown_joins_and_the_last_admin_stays(tuner: Client, full_project: Project) -> None:
    answer = tuner.post(f"{HOME}members/", {"username": "nobody", "role": "viewer"})
    assert (answer.status_code, "This name can&#x27;t be added." in answer.content.decode()) == (422, True)
    tess = Membership.objects.get(project=full_project, user__username="tess")
    page = tuner.post(f"{HOME}members/{tess.pk}/remove/", follow=True).content.decode()
    assert "at least one admin" in page
    assert Membership.objects.filter(pk=tess.pk).exists()


def test_names_that_can_not_be_added_are_not_tried_without_end(tuner: Client, full_project: Project) -> None:
    def page(name: str) -> str:
        return tuner.post(f"{HOME}members/", {"username": name, "role": "viewer"}).content.decode()

    User.objects.create_user("gone", is_active=False)
    tries = [page(f"name {number}") for number in range(19)] + [page("gone")]
    assert all("This name can&#x27;t be added." in each for each in tries)
    assert "Too many names" in page("another")
