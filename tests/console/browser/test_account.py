"""The pages beside the projects: a person's account, and the documentation of the API."""

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import expect

from apps.tenants.models import Project
from tests.console.browser.conftest import OpenPage
from tests.console.test_second_factor import code_of

PASSWORD = "correct horse battery"
pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_the_account_is_for_everyone(open_window: OpenPage, project: Project) -> None:
    User.objects.create_user("ana", password=PASSWORD)
    window = open_window("ana")
    for path in ("../login/account/", "../login/account/password/", "evaluation/"):
        window.open(path)
        window.assert_for_everyone(path)
    window.open("../login/account/")
    window.page.get_by_role("link", name="Set up").click()
    window.page.get_by_label("Password").fill(PASSWORD)
    window.assert_for_everyone("the password again")
    window.page.get_by_role("button", name="Confirm").click()
    expect(window.page.get_by_alt_text("QR code")).to_be_visible()
    assert window.page.get_by_alt_text("QR code").evaluate("image => image.naturalWidth") > 100
    window.assert_for_everyone("the new secret")
    secret = window.page.locator("code.key-text").inner_text()
    window.page.get_by_label("Authenticator code").fill(code_of(secret))
    window.page.get_by_role("button", name="Confirm").click()
    expect(window.page.get_by_role("heading", name="Recovery Codes")).to_be_visible()
    used = window.page.get_by_label("Unused codes").input_value().split()[0]
    window.page.context.clear_cookies()
    window.open("../login/")
    window.page.get_by_label("User name").fill("ana")
    window.page.get_by_label("Password").fill(PASSWORD)
    window.page.get_by_role("button", name="Sign in", exact=True).click()
    window.assert_for_everyone("the code")
    window.page.get_by_label("Code").fill(used)
    window.page.get_by_role("button", name="Sign in", exact=True).click()
    expect(window.page.get_by_role("button", name="Keyboard help")).to_be_visible()


def test_the_documentation_works_under_its_policy(open_window: OpenPage, project: Project) -> None:
    """Chromium reports each refused script or style as an error of the page."""
    window = open_window()
    window.open("../../v1/docs")
    window.page.get_by_text("Send turns of a session").click()
    expect(window.page.get_by_role("button", name="Try it out")).to_be_visible()
    assert window.misdeeds == []
