"""Invitations: made by admins, used once by whoever has the link, worthless to anyone else."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import mail, signing
from django.db import connection
from django.test import Client
from django.utils import timezone

from apps.common.errors import NotFound
from apps.memories.models import LedgerEntry
from apps.projects.invitations import MOST_PER_HOUR, VALID_FOR, accept_with_new_account, create_invitation
from apps.projects.services import set_member
from apps.tenants.enums import MemberRole
from apps.tenants.models import Invitation, Membership, Project
from tests.console.members import HOME, member, text_of

pytestmark = pytest.mark.django_db
LINK = re.compile(r"/console/login/invitation/([\w.-]+)/")
PASSWORD = "a long and odd passphrase"
NEW = {"username": "nina", "password1": PASSWORD, "password2": PASSWORD}


@pytest.fixture
def tess(project: Project) -> Client:
    return member("tess", project, MemberRole.ADMIN)


def invite(browser: Client, role: str = "reviewer", email: str = "") -> str:
    """Invite a person and return the path of the link that is shown."""
    answer = browser.post(f"{HOME}members/invite/", {"role": role, "email": email})
    found = LINK.search(answer.content.decode())
    assert found, answer.content.decode()
    return found[0]


def role_of(name: str) -> str | None:
    return Membership.objects.filter(user__username=name).values_list("role", flat=True).first()


def test_an_invited_person_makes_an_account_and_lands_in_the_project(project: Project, tess: Client) -> None:
    link = invite(tess)
    assert link not in text_of(tess, "members/")
    nina = Client()
    page = nina.get(link)
    assert "<strong>tess</strong> invites you to the project <strong>Test</strong>" in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    landed = nina.post(link, NEW, follow=True)
    assert landed.redirect_chain[0][0] == "/console/test/"
    assert "Welcome to Test." in landed.content.decode()
    assert role_of("nina") == "reviewer"
    person = User.objects.get(username="nina")
    assert person.check_password(PASSWORD)
    assert not person.is_staff
    acts = LedgerEntry.objects.filter(project=project).values_list("verb", "actor")
    inviter = User.objects.get(username="tess")
    assert {("member_invited", f"person:{inviter.pk}"), ("invitation_accepted", f"person:{person.pk}")} <= set(acts)


def test_a_link_works_once(tess: Client) -> None:
    link = invite(tess)
    Client().post(link, NEW)
    again = Client().post(link, {**NEW, "username": "mallory"})
    assert (again.status_code, role_of("mallory")) == (404, None)
    assert not User.objects.filter(username="mallory").exists()


@pytest.mark.django_db(transaction=True)
def test_two_people_with_one_link_at_once_make_one_account(tess: Client) -> None:
    token, start = invite(tess).split("/")[-2], Barrier(2)

    def join(name: str) -> bool:
        start.wait(timeout=60)
        try:
            accept_with_new_account(token=token, username=name, password=PASSWORD)
        except NotFound:
            return False
        finally:
            connection.close()
        return True

    with ThreadPoolExecutor() as pool:
        joined = list(pool.map(join, ("nina", "mallory")))
    assert sorted(joined) == [False, True]
    assert User.objects.exclude(username="tess").count() == 1


@pytest.mark.parametrize("end", ["revoked", "expired", "inviter demoted", "inviter removed", "inviter deactivated"])
def test_an_invitation_ends(project: Project, tess: Client, end: str) -> None:
    set_member(project_id=project.pk, username=User.objects.create_user("second").username, role=MemberRole.ADMIN)
    link, inviter = invite(tess), User.objects.filter(username="tess")
    if end == "revoked":
        tess.post(f"{HOME}members/invitations/{Invitation.objects.get().pk}/revoke/")
    elif end == "expired":
        Invitation.objects.update(expires_at=timezone.now())
    elif end == "inviter demoted":
        set_member(project_id=project.pk, username="tess", role=MemberRole.VIEWER)
    elif end == "inviter removed":
        Membership.objects.filter(user__username="tess").delete()
    else:
        inviter.update(is_active=False)
    for answer in (Client().get(link), Client().post(link, NEW)):
        assert (answer.status_code, "not open" in answer.content.decode()) == (404, True)
    assert role_of("nina") is None


def test_the_token_is_stored_as_a_hash_and_lives_for_a_week(tess: Client) -> None:
    token = invite(tess).split("/")[-2]
    invitation = Invitation.objects.get()
    assert token not in str(list(Invitation.objects.values()))
    assert invitation.expires_at - invitation.created_at <= VALID_FOR == timedelta(days=7)


def test_forged_tokens_lead_nowhere(tess: Client) -> None:
    token = invite(tess).split("/")[-2]
    spoilt = [f"{spoil}{token[:-2]}" for spoil in ("x", "", ".", "a" * 3_000, "../../admin", "%00")]
    for wrong in (*spoilt, signing.Signer(salt="invitation", sep=".").sign("guessed")):
        answer = Client().post(f"/console/login/invitation/{wrong}/", NEW)
        assert answer.status_code == 404, wrong
        assert not User.objects.filter(username="nina").exists()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"password1": "short", "password2": "short"}, "too short"),
        ({"password1": "password1234", "password2": "password1234"}, "too common"),
        ({"password2": "another passphrase"}, "match"),
        ({"username": "TESS"}, "taken"),
        ({"username": "nina<script>"}, "valid username"),
        ({"username": "n" * 200}, "at most 150"),
    ],
)
def test_a_bad_account_is_refused_and_the_link_stays_open(tess: Client, given: dict[str, str], says: str) -> None:
    link = invite(tess)
    answer = Client().post(link, {**NEW, **given})
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert User.objects.count() == 1
    assert Client().post(link, NEW).status_code == 302


def test_who_is_signed_in_joins_and_keeps_a_higher_role(project: Project, tess: Client) -> None:
    rita = member("rita", project, MemberRole.REVIEWER)
    viewer, admin = invite(tess, "viewer"), invite(tess, "admin")
    assert "You are signed in as rita" in rita.get(viewer).content.decode()
    rita.post(viewer)
    assert role_of("rita") == "reviewer"
    rita.post(admin)
    assert role_of("rita") == "admin"


def test_an_invitation_by_mail(tess: Client, settings: Any) -> None:
    settings.EMAIL_HOST, settings.PUBLIC_URL = "mail.example", "https://memory.example/"
    for _ in range(2):
        answer = tess.post(f"{HOME}members/invite/", {"role": "viewer", "email": "nina@example.org"}, follow=True)
        assert LINK.search(answer.content.decode()) is None
    first, second = mail.outbox
    assert second.to == ["nina@example.org"]
    assert "tess invites you to the project Test of memplatform, as viewer." in str(second.body)
    assert "https://memory.example/console/login/invitation/" in str(second.body)
    links = [match[0] for each in (first, second) if (match := LINK.search(str(each.body)))]
    assert [Client().get(link).status_code for link in links] == [404, 200]  # the second one replaces the first
    Client().post(links[1], NEW)
    assert User.objects.get(username="nina").email == "nina@example.org"


def test_a_mail_that_is_not_taken_shows_the_link(tess: Client, settings: Any) -> None:
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT, settings.EMAIL_BACKEND = 1, "django.core.mail.backends.smtp.EmailBackend"
    answer = tess.post(f"{HOME}members/invite/", {"role": "viewer", "email": "nina@example.org"})
    assert "The mail was not sent (ConnectionRefusedError)" in answer.content.decode()
    assert LINK.search(answer.content.decode())


@pytest.mark.parametrize("given", [{"role": "owner"}, {"role": ""}, {"role": "viewer", "email": "a@b\nBcc: c@d"}])
def test_an_invitation_that_makes_no_sense_is_refused(tess: Client, given: dict[str, str]) -> None:
    assert tess.post(f"{HOME}members/invite/", given).status_code == 422
    assert not Invitation.objects.exists()


def test_a_form_that_is_sent_again_invites_nobody(tess: Client) -> None:
    for _ in range(2):
        tess.post(f"{HOME}members/invite/", {"role": "viewer", "once": "this-form"})
    assert Invitation.objects.count() == 1


def test_invitations_and_attempts_are_limited(project: Project, tess: Client) -> None:
    inviter = User.objects.get(username="tess").pk
    for _ in range(MOST_PER_HOUR):
        create_invitation(project_id=project.pk, role=MemberRole.VIEWER, invited_by=inviter)
    answer = tess.post(f"{HOME}members/invite/", {"role": "viewer"})
    assert (answer.status_code, Invitation.objects.count()) == (422, MOST_PER_HOUR)
    statuses = [Client().get("/console/login/invitation/guess/").status_code for _ in range(31)]
    assert (set(statuses[:30]), statuses[30]) == ({404}, 429)


def test_an_invitation_of_another_project_is_not_revoked(tess: Client, other_project: Project) -> None:
    inviter = User.objects.get().pk
    theirs, _ = create_invitation(project_id=other_project.pk, role=MemberRole.ADMIN, invited_by=inviter)
    tess.post(f"{HOME}members/invitations/{theirs.pk}/revoke/")
    assert Invitation.objects.get().revoked_at is None
