"""Lists of the admin in a browser."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from apps.memories.models import Memory
from apps.tenants.models import Project
from apps.traces.models import Turn
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.parametrize("path", ["memories/memory/", "traces/turn/", "memories/entity/"])
@pytest.mark.parametrize("text", ["a" * 3_000, "a long sentence " * 200])
def test_one_long_text_does_not_push_the_columns_out(
    open_window: OpenPage, full_project: Project, path: str, text: str
) -> None:
    memory = Memory.objects.filter(project=full_project).latest("id")
    Memory.objects.filter(pk=memory.pk).update(content=text)
    Turn.objects.filter(pk=Turn.objects.latest("id").pk).update(content=text)
    memory.end_user.entities.update(name=text[:200])
    window = open_window()
    User.objects.filter(username="ana").update(is_staff=True, is_superuser=True)
    window.page.goto(f"{window.address}/admin/{path}")
    table = window.page.locator("#result_list")
    expect(table).to_be_visible()
    assert table.evaluate("table => table.scrollWidth <= table.closest('.results').clientWidth + 1")
