"""Which pages each role may open."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project

pytestmark = pytest.mark.django_db


def signed_in(name: str, project: Project | None = None, role: MemberRole = MemberRole.VIEWER) -> Client:
    user = User.objects.create_user(name)
    if project is not None:
        Membership.objects.create(user=user, project=project, role=role)
    client = Client()
    client.force_login(user)
    return client


def test_a_stranger_is_sent_to_the_login_and_back(project: Project) -> None:
    answer = Client().get("/console/test/entities/?q=a")
    assert answer.status_code == 302
    assert answer["Location"] == "/console/login/?next=/console/test/entities/%3Fq%3Da"


def test_the_root_leads_to_the_login_and_a_first_superuser_to_a_new_project(db: None) -> None:
    browser = Client()
    login = browser.get("/", follow=True)
    assert login.redirect_chain[-1][0] == "/console/login/?next=/console/"
    assert "Sign in" in login.content.decode()
    User.objects.create_superuser("root", password="correct horse")
    begun = browser.post(login.redirect_chain[-1][0], {"username": "root", "password": "correct horse"}, follow=True)
    assert f'href="{reverse("console:projects")}"' in begun.content.decode()


def test_a_stranger_can_sign_in(project: Project) -> None:
    User.objects.create_user("ana", password="correct horse")
    answer = Client().post("/console/login/", {"username": "ana", "password": "correct horse"})
    assert answer.status_code == 302
    assert answer["Location"] == "/console/"


def test_a_fragment_sends_the_whole_page_to_the_login(project: Project) -> None:
    answer = Client().get("/console/test/entities/", headers={"HX-Request": "true"})
    assert answer["HX-Redirect"].startswith("/console/login/")


def test_a_project_of_others_does_not_exist(project: Project, other_project: Project) -> None:
    client = signed_in("ana", project)
    assert client.get("/console/test/entities/").status_code == 200
    assert client.get("/console/other/entities/").status_code == 404


def test_the_switcher_names_only_ones_own_projects(project: Project, other_project: Project) -> None:
    assert "Other" not in signed_in("ana", project).get("/console/test/entities/").content.decode()


def test_superusers_see_all_projects(admin: Client, project: Project, other_project: Project) -> None:
    assert "Other" in admin.get("/console/test/entities/").content.decode()


def test_a_person_without_a_project_sees_an_explanation(project: Project) -> None:
    assert "No project yet" in signed_in("ana").get("/console/").content.decode()


def test_every_page_says_what_a_browser_may_load(admin: Client, project: Project) -> None:
    policy = admin.get("/console/test/entities/")["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def test_a_decision_without_the_token_of_its_page_is_refused(full_project: Project) -> None:
    """Another site can make a browser send the cookies of a member, but not the token."""
    memory = Memory.objects.filter(project=full_project, status=Status.ACTIVE).latest("created_at")
    signed_in("ana", full_project, MemberRole.ADMIN)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(User.objects.get(username="ana"))
    answer = browser.post(
        "/console/test/review/reject/", {"memory": f"{memory.pk}:{memory.version}", "reason": "not_true"}
    )
    assert answer.status_code == 403
    assert Memory.objects.get(pk=memory.pk).status == Status.ACTIVE
