"""Lists of the admin in a browser."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from apps.memories.models import Memory
from apps.tenants.models import Project
from apps.traces.models import Turn
from tests.console.browser.conftest import OpenPage, Window

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LISTS = ("memories/memory/", "traces/turn/", "memories/entity/")


def width(window: Window, path: str) -> int:
    window.page.goto(f"{window.address}/admin/{path}")
    table = window.page.locator("#result_list")
    expect(table).to_be_visible()
    return int(table.evaluate("table => table.scrollWidth"))


def test_one_long_text_does_not_push_the_columns_out(open_window: OpenPage, full_project: Project) -> None:
    memory = Memory.objects.filter(project=full_project).latest("id")
    window = open_window()
    User.objects.filter(username="ana").update(is_staff=True, is_superuser=True)
    before = {path: width(window, path) for path in LISTS}
    for text in ("a" * 3_000, "a long sentence " * 200):
        Memory.objects.filter(pk=memory.pk).update(content=text)
        Turn.objects.filter(pk=Turn.objects.latest("id").pk).update(content=text)
        memory.end_user.entities.update(name=text[:200])
        for path in LISTS:
            assert width(window, path) <= before[path] + 250, path
