"""Keys and members: made, changed, taken away and given back."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from apps.common.errors import Unfit
from apps.memories.models import LedgerEntry
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import UNDO_PERIOD, create_key, rotate_key
from apps.tenants.enums import MemberRole
from apps.tenants.keys import recognise
from apps.tenants.models import ApiKey, Membership, Project
from tests.console.members import HOME, text_of

pytestmark = pytest.mark.django_db


def test_a_key_is_shown_once(tuner: Client, full_project: Project) -> None:
    given = {"name": "agent", "scopes": ["read"], "expires_at": "2999-01-01", "once": "this-form"}
    answer = tuner.post(f"{HOME}keys/", given)
    key = ApiKey.objects.get(project=full_project, name="agent")
    assert f"mp_{key.prefix}_" in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    assert f"mp_{key.prefix}_" not in text_of(tuner, "keys/")
    again = tuner.post(f"{HOME}keys/", given, follow=True).content.decode()  # as a browser does that reloads the page
    assert "This key was created before." in again
    assert ApiKey.objects.filter(project=full_project).count() == 1


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


def test_a_key_is_rotated_and_the_former_one_stays_valid_for_a_while(tuner: Client, full_project: Project) -> None:
    former = create_key(
        project_id=full_project.pk, name="agent", scopes=[Scope.READ, Scope.WRITE], requests_per_minute=7
    )
    answer = tuner.post(f"{HOME}keys/{former.key.pk}/rotate/", {"hours": "24"})
    text = re.findall(r"mp_[0-9a-f]{12}_[\w-]{43}", answer.content.decode())[0]
    made, old = recognise(text), recognise(former.text)
    assert made is not None
    assert old is not None
    assert set(made.scopes) == {Scope.READ, Scope.WRITE}
    assert made.requests_per_minute == 7
    assert "no-store" in answer["Cache-Control"]
    left = ApiKey.objects.get(pk=former.key.pk).expires_at - timezone.now()
    assert timedelta(hours=23) < left <= timedelta(hours=24)
    entry = LedgerEntry.objects.get(verb="key_rotated", object_id=former.key.pk)
    assert entry.details == {"replaced_by": str(made.id), "overlap_seconds": 86_400}
    assert "tess" in text_of(tuner, "keys/")

    tuner.post(f"{HOME}keys/{made.id}/rotate/", {"hours": "0"})
    assert recognise(text) is None


def test_a_rotated_key_lives_as_long_as_the_former_one_was_made_for(project: Project) -> None:
    ends = timezone.now() + timedelta(days=10)
    former = create_key(project_id=project.pk, name="agent", scopes=[Scope.READ], expires_at=ends).key
    ApiKey.objects.filter(pk=former.pk).update(created_at=ends - timedelta(days=90))
    made = rotate_key(project_id=project.pk, key_id=former.pk, overlap=timedelta(days=20)).key
    assert made.expires_at is not None
    assert timedelta(days=89) < made.expires_at - timezone.now() <= timedelta(days=90)
    former.refresh_from_db()
    assert former.expires_at == ends  # never longer than it was


def test_a_key_that_is_not_valid_is_not_rotated(tuner: Client, full_project: Project, other_project: Project) -> None:
    mine = create_key(project_id=full_project.pk, name="mine", scopes=[Scope.READ]).key
    theirs = create_key(project_id=other_project.pk, name="theirs", scopes=[Scope.READ]).key
    assert tuner.post(f"{HOME}keys/{theirs.pk}/rotate/", {"hours": "1"}).status_code == 404
    assert tuner.post(f"{HOME}keys/{mine.pk}/rotate/", {"hours": "9999"}).status_code == 422
    ApiKey.objects.filter(pk=mine.pk).update(revoked_at=timezone.now())
    answer = tuner.post(f"{HOME}keys/{mine.pk}/rotate/", {"hours": "1"})
    assert (answer.status_code, "revoked or has expired" in answer.content.decode()) == (422, True)
    assert ApiKey.objects.count() == 2
    with pytest.raises(Unfit):
        rotate_key(project_id=full_project.pk, key_id=mine.pk, overlap=timedelta(days=31))


def test_no_two_fields_of_the_page_have_one_id(tuner: Client, full_project: Project) -> None:
    for page in (tuner.get("/console/test/members/"), tuner.post("/console/test/members/", {"username": ""})):
        ids = re.findall(r'\sid="([^"]+)"', page.content.decode())
        assert len(ids) == len(set(ids))


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
