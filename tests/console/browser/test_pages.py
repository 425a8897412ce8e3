"""Every page, wide and narrow, light and dark, is accessible and fits the window."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from apps.memories.models import Entity, Memory
from apps.tenants.models import EndUser, Project
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def pages(project: Project) -> list[str]:
    user = EndUser.objects.get(project=project).pk
    entity = Entity.objects.filter(project=project).latest("mention_count").pk
    memory = Memory.objects.filter(project=project).latest("created_at").pk
    tabs = [f"users/{user}/?tab={tab}" for tab in ("context", "facts", "timeline", "graph")]
    lists = ["review/", "contradictions/", "decisions/", "memories/", "memories/?tag=none", "users/", "entities/"]
    others = Entity.objects.filter(project=project, is_user=False).order_by("name").values_list("pk", flat=True)
    merging = [f"entities/{others[0]}/merge/", f"entities/{others[0]}/merge/{others[1]}/"]
    return [*lists, *tabs, f"entities/{entity}/", *merging, f"memories/{memory}/"]


def test_pages_are_for_everyone(open_window: OpenPage, full_project: Project) -> None:
    window = open_window()
    for path in pages(full_project):
        window.open(path)
        window.assert_for_everyone(path)


def test_signing_in_leads_to_the_first_page_and_a_narrow_one_has_a_menu(
    open_window: OpenPage, full_project: Project
) -> None:
    window = open_window("ana", width=390, height=844)
    page = window.page
    ana = User.objects.get(username="ana")
    ana.set_password("correct horse")
    ana.save()
    page.context.clear_cookies()
    page.goto(f"{window.address}/")
    page.get_by_label("User name").fill("ana")
    page.get_by_label("Password").fill("correct horse")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Is it true?")).to_be_visible()

    expect(page.get_by_role("navigation", name="Pages", exact=True)).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    window.assert_accessible("review/ with the menu")
    page.get_by_role("link", name="Memories").click()
    page.get_by_role("link", name="People and things").click()
    expect(page.get_by_role("heading", name="People and things")).to_be_visible()
