"""A key is rotated in a browser, and the page stays accessible with the form open."""

import pytest
from playwright.sync_api import expect

from apps.actions.keys.create_key import create_key
from apps.pipeline.core.enums import Scope
from apps.tenants.models import ApiKey, Project
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_a_key_is_rotated(open_window: OpenPage, project: Project) -> None:
    create_key(project_id=project.pk, name="agent", scopes=[Scope.READ])
    window = open_window()
    window.open("keys/")
    window.page.locator("summary", has_text="Rotate").click()
    window.assert_for_everyone("keys/")
    window.page.get_by_label("The former key stays valid").select_option("1 hour")
    window.page.get_by_role("button", name="Make a new key").click()
    expect(window.page.get_by_text("New key agent")).to_be_visible()
    assert ApiKey.objects.filter(expires_at=None).count() == 1

    window.page.get_by_label("Name").fill("second")
    window.page.get_by_role("button", name="Create", exact=True).click()
    expect(window.page.get_by_text("New key second")).to_be_visible()
    window.page.get_by_role("link", name="All keys").click()
    expect(window.page.get_by_role("button", name="Revoke")).to_have_count(3)
