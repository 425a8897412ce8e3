"""Keys of agents in a browser: made, seen once, revoked, rotated."""

import pytest
from django.test import Client
from playwright.sync_api import expect

from apps.tenants.models import ApiKey, Project
from tests.console.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def status_with(key: str) -> int:
    """Return what the API answers to a caller with the key."""
    return Client().get("/v1/memories?user_id=ana", headers={"Authorization": f"Bearer {key}"}).status_code


def test_a_key_is_made_seen_once_revoked_and_rotated(open_window: OpenPage, project: Project) -> None:
    before = ApiKey.objects.count()
    window = open_window()
    page = window.page
    window.open("keys/")
    page.get_by_label("Name").fill("agent")
    page.get_by_role("button", name="Create").click()
    text = page.locator(".key-text").inner_text()
    assert status_with(text) == 200

    # To reload the page makes no second key, and shows the text no more.
    page.reload()
    expect(page.get_by_text("This key was created before.")).to_be_visible()
    assert ApiKey.objects.count() == before + 1
    expect(page.get_by_text(text)).to_have_count(0)
    window.open("keys/")
    expect(page.get_by_text(text)).to_have_count(0)

    # A revoked key is valid no more, until that is undone.
    page.get_by_role("button", name="Revoke agent").click()
    expect(page.get_by_text("revoked", exact=True)).to_be_visible()
    assert status_with(text) == 401
    window.press("u")
    expect(page.get_by_text("The key is valid again.")).to_be_visible()
    assert status_with(text) == 200

    # A key is rotated: the former one ends, and the page is for everyone with the form open.
    page.locator("summary", has_text="Rotate").click()
    window.assert_for_everyone("keys/")
    page.get_by_label("The former key stays valid").select_option("1 hour")
    page.get_by_role("button", name="Make a new key").click()
    expect(page.get_by_text("New key agent")).to_be_visible()
    assert ApiKey.objects.filter(expires_at=None).count() == before + 1

    # From a new key, another one is made, and the list is a click away.
    page.get_by_label("Name").fill("second")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("New key second")).to_be_visible()
    page.get_by_role("link", name="All keys").click()
    expect(page.get_by_role("button", name="Revoke")).to_have_count(before + 3)
