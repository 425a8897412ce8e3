"""The second factor of an account: set up, asked for at the login, lost and reset."""

import re
from datetime import timedelta
from typing import Any

import pyotp
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from apps.tenants.models import SecondFactor

LOGIN, CODE, ACCOUNT = "/console/login/", "/console/login/code/", "/console/login/account/"
SETUP = f"{ACCOUNT}second-factor/"
PASSWORD = "correct horse battery"


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_superuser("ana", password=PASSWORD)


@pytest.fixture
def recovery(ana: User) -> list[str]:
    """The recovery codes of Ana, who has set up a second factor."""
    return set_up(signed_in(ana))


def signed_in(user: User) -> Client:
    browser = Client()
    browser.force_login(user)
    return browser


def set_up(browser: Client) -> list[str]:
    browser.post(SETUP)
    page = browser.post(f"{SETUP}confirm/", {"code": code_of(SecondFactor.objects.get())}).content.decode()
    return re.findall(r"<li><code>([^<]+)</code>", page)


def code_of(factor: SecondFactor, *, steps: int = 0) -> str:
    """Return the code that the app shows so many half minutes from now."""
    return pyotp.TOTP(factor.secret).at(timezone.now() + timedelta(seconds=30 * steps))


def after_password(**query: str) -> Client:
    browser = Client()
    answer: Any = browser.post(LOGIN, {"username": "ana", "password": PASSWORD, **query})
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, CODE)
    return browser


def is_in(browser: Client) -> bool:
    return browser.get(ACCOUNT).status_code == 200


def later() -> str:
    return code_of(SecondFactor.objects.get(), steps=1)


def test_the_page_shows_the_secret_until_it_is_confirmed(ana: User) -> None:
    browser = signed_in(ana)
    assert SETUP in browser.get(ACCOUNT).content.decode()
    browser.post(SETUP)
    factor = SecondFactor.objects.get()
    page = browser.get(ACCOUNT).content.decode()
    assert factor.secret in page
    assert 'src="data:image/svg+xml' in page
    assert browser.post(f"{SETUP}confirm/", {"code": "000000"}).status_code == 422
    assert len(set_up(browser)) == 10
    assert factor.secret not in browser.get(ACCOUNT).content.decode()


def test_an_unconfirmed_secret_is_not_asked_for(ana: User) -> None:
    signed_in(ana).post(SETUP)
    browser = Client()
    browser.post(LOGIN, {"username": "ana", "password": PASSWORD})
    assert is_in(browser)


def test_a_password_alone_opens_nothing(recovery: list[str]) -> None:
    browser = after_password()
    assert not is_in(browser)
    assert browser.get("/admin/").status_code == 302
    assert browser.get(CODE).status_code == 200


def test_a_code_completes_the_login_once(recovery: list[str]) -> None:
    browser, code = after_password(next="/admin/"), later()
    before = browser.cookies["sessionid"].value
    answer: Any = browser.post(CODE, {"code": code, "next": "/admin/"})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert is_in(browser)
    assert browser.cookies["sessionid"].value != before
    again = after_password()
    assert again.post(CODE, {"code": code}).status_code == 200
    assert not is_in(again)


def test_nobody_is_led_elsewhere_after_the_login(recovery: list[str]) -> None:
    answer: Any = after_password().post(CODE, {"code": later(), "next": "https://evil.example/"})
    assert answer["Location"] == "/console/"


def test_a_recovery_code_works_once(recovery: list[str]) -> None:
    first, second = after_password(), after_password()
    first.post(CODE, {"code": recovery[3].upper()})
    second.post(CODE, {"code": recovery[3]})
    assert (is_in(first), is_in(second)) == (True, False)
    assert "9 recovery codes" in first.get(ACCOUNT).content.decode()


def test_codes_are_limited_before_they_are_looked_at(recovery: list[str]) -> None:
    browser = after_password()
    assert [browser.post(CODE, {"code": "000000"}).status_code for _ in range(5)] == [200] * 5
    refused: Any = browser.post(CODE, {"code": later()})
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True)
    assert not is_in(browser)
    assert after_password().post(CODE, {"code": later()}).status_code == 429, "another login has no attempts of its own"


def test_the_page_for_the_code_is_not_found_without_a_password(ana: User, recovery: list[str]) -> None:
    answer: Any = Client().post(CODE, {"code": later()})
    assert (answer.status_code, answer["Location"]) == (302, LOGIN)


def test_a_password_that_was_given_long_ago_has_to_be_given_again(recovery: list[str]) -> None:
    browser = after_password()
    session = browser.session
    session["awaits_code"] = [*session["awaits_code"][:2], session["awaits_code"][2] - 301]
    session.save()
    assert browser.post(CODE, {"code": later()}).status_code == 302
    assert not is_in(browser)


def test_a_deactivated_account_stays_out(ana: User, recovery: list[str]) -> None:
    browser = after_password()
    User.objects.update(is_active=False)
    browser.post(CODE, {"code": later()})
    assert not is_in(browser)


def test_its_owner_removes_it_with_a_code(ana: User, recovery: list[str]) -> None:
    browser = signed_in(ana)
    assert browser.post(f"{SETUP}remove/", {"code": "000000"}).status_code == 422
    assert SecondFactor.objects.exists()
    assert browser.post(SETUP).status_code == 302, "a confirmed one is not replaced"
    assert SecondFactor.objects.get().confirmed_at
    browser.post(f"{SETUP}remove/", {"code": recovery[0]})
    assert not SecondFactor.objects.exists()


def test_a_command_resets_it(recovery: list[str]) -> None:
    call_command("reset_second_factor", "ana")
    browser = Client()
    browser.post(LOGIN, {"username": "ana", "password": PASSWORD})
    assert is_in(browser)


@pytest.mark.parametrize("path", [ACCOUNT, SETUP, f"{SETUP}confirm/", f"{SETUP}remove/", f"{ACCOUNT}password/"])
def test_strangers_are_led_to_the_login(db: None, path: str) -> None:
    answer: Any = Client().post(path, {"code": "000000"})
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, LOGIN)
