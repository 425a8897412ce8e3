"""Which pages each role may open."""

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

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
    begun = browser.post(login.redirect_chain[-1][0], {"login": "root", "password": "correct horse"}, follow=True)
    assert f'href="{reverse("console:projects")}"' in begun.content.decode()


def test_a_fragment_sends_the_whole_page_to_the_login(project: Project) -> None:
    answer = Client().get("/console/test/entities/", headers={"HX-Request": "true"})
    assert answer["HX-Redirect"].startswith("/console/login/")


def test_the_switcher_names_only_ones_own_projects(project: Project, other_project: Project) -> None:
    assert "Other" not in signed_in("ana", project).get("/console/test/entities/").content.decode()


def test_superusers_see_all_projects(admin: Client, project: Project, other_project: Project) -> None:
    assert "Other" in admin.get("/console/test/entities/").content.decode()


def test_a_person_without_a_project_sees_an_explanation(project: Project) -> None:
    assert "No project yet" in signed_in("ana").get("/console/").content.decode()
