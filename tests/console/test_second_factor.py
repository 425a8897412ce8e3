"""The second factor of an account: set up, asked for at the login, lost and reset."""

import re
import time
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from apps.tenants.encrypted_text import decrypt

LOGIN, CODE, ACCOUNT = "/console/login/", "/console/login/code/", "/console/login/account/"
SETUP, REMOVE, RECOVERY = f"{ACCOUNT}second-factor/", f"{ACCOUNT}second-factor/remove/", f"{ACCOUNT}recovery-codes/"
PASSWORD = "correct horse battery"


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_superuser("ana", password=PASSWORD)


@pytest.fixture
def recovery(ana: User) -> list[str]:
    """The recovery codes of Ana, who has set up a second factor."""
    return set_up(signed_in())


def signed_in() -> Client:
    browser = Client()
    browser.post(LOGIN, {"login": "ana", "password": PASSWORD})
    return browser


def set_up(browser: Client) -> list[str]:
    secret = secret_in(confirmed(browser, SETUP))
    answer: Any = browser.post(SETUP, {"code": code_of(secret)})
    return recovery_codes_in(browser.get(answer["Location"]).content.decode())


def confirmed(browser: Client, path: str) -> str:
    """Return a page of one's account that asks for the password again."""
    asked: Any = browser.get(path)
    answer: Any = browser.post(asked["Location"], {"password": PASSWORD})
    assert (answer.status_code, answer["Location"]) == (302, path)
    return browser.get(path).content.decode()


def secret_in(page: str) -> str:
    (secret,) = re.findall(r">([A-Z2-7]{32})<", page)
    return str(secret)


def recovery_codes_in(page: str) -> list[str]:
    return re.findall(r"\b\d{8}\b", page)


def code_of(secret: str, *, steps: int = 0) -> str:
    """Return the code that the app shows so many half minutes from now."""
    return str(format_hotp_value(hotp_value(secret, int(time.time()) // 30 + steps)))


def stored_secret() -> str:
    factor = Authenticator.objects.get(type=Authenticator.Type.TOTP)
    return decrypt(factor.data["secret"])


def after_password(**query: str) -> Client:
    browser = Client()
    answer: Any = browser.post(LOGIN, {"login": "ana", "password": PASSWORD, **query})
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, CODE)
    return browser


def is_in(browser: Client) -> bool:
    return browser.get(ACCOUNT).status_code == 200


def later() -> str:
    return code_of(stored_secret(), steps=1)


def test_the_page_shows_the_secret_until_it_is_confirmed(ana: User) -> None:
    browser = signed_in()
    assert SETUP in browser.get(ACCOUNT).content.decode()
    page = confirmed(browser, SETUP)
    assert 'src="data:image/svg+xml' in page
    secret = secret_in(page)
    assert secret in browser.post(SETUP, {"code": "000000"}).content.decode()
    assert not Authenticator.objects.exists()
    browser.post(SETUP, {"code": code_of(secret)})
    assert secret not in browser.get(ACCOUNT).content.decode()
    assert len(recovery_codes_in(browser.get(RECOVERY).content.decode())) == 10


def test_secrets_are_encrypted_in_the_database(recovery: list[str]) -> None:
    assert len(stored_secret()) == 32
    assert all(stored_secret() not in str(each.data) for each in Authenticator.objects.all())
    assert all(code not in str(each.data) for each in Authenticator.objects.all() for code in recovery)


def test_a_secret_of_another_server_key_lets_nobody_in(recovery: list[str], settings: Any) -> None:
    settings.SECRET_KEY = "another key of at least thirty-two characters"
    browser = after_password()
    browser.post(CODE, {"code": code_of("")})
    assert not is_in(browser)
    browser.post(CODE, {"code": recovery[0]})
    assert not is_in(browser)


def test_an_unconfirmed_secret_is_not_asked_for(ana: User) -> None:
    confirmed(signed_in(), SETUP)
    assert is_in(signed_in())


def test_a_password_alone_opens_nothing(recovery: list[str]) -> None:
    browser = after_password()
    assert not is_in(browser)
    assert browser.get("/admin/").status_code == 302
    page = browser.get(CODE).content.decode()
    assert 'name="code"' in page
    assert 'action="/console/logout/"' in page, "there is a way back"


def test_a_code_completes_the_login_once(recovery: list[str]) -> None:
    browser, code = after_password(next="/admin/"), later()
    before = browser.cookies["sessionid"].value
    answer: Any = browser.post(CODE, {"code": code})
    assert (answer.status_code, answer["Location"]) == (302, "/admin/")
    assert is_in(browser)
    assert browser.cookies["sessionid"].value != before
    again = after_password()
    assert again.post(CODE, {"code": code}).status_code == 200
    assert not is_in(again)


def test_nobody_is_led_elsewhere_after_the_login(recovery: list[str]) -> None:
    answer: Any = after_password(next="https://evil.example/").post(CODE, {"code": later()})
    assert answer["Location"] == "/console/"


def test_a_recovery_code_works_once(recovery: list[str]) -> None:
    first, second = after_password(), after_password()
    first.post(CODE, {"code": recovery[3]})
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
    session["account_login"] = {**session["account_login"], "initiated_at": time.time() - 301}
    session.save()
    assert browser.post(CODE, {"code": later()}).status_code == 302
    assert not is_in(browser)


def test_a_deactivated_account_stays_out(ana: User, recovery: list[str]) -> None:
    browser = after_password()
    User.objects.update(is_active=False)
    browser.post(CODE, {"code": later()})
    assert not is_in(browser)


def test_an_open_browser_alone_changes_nothing(ana: User, recovery: list[str]) -> None:
    """What concerns the second factor needs the password or a code again."""
    browser = after_password()
    browser.post(CODE, {"code": recovery[0]})
    for method, path in (("POST", REMOVE), ("GET", RECOVERY), ("POST", f"{RECOVERY}new/")):
        answer: Any = browser.generic(method, path)
        assert (answer.status_code, "/console/login/account/confirm/" in answer["Location"]) == (302, True), path
    assert browser.get(f"{RECOVERY}file/").status_code in (302, 403)
    assert Authenticator.objects.count() == 2
    confirming: Any = browser.post(f"{ACCOUNT}confirm/code/?next={REMOVE}", {"code": recovery[1]})
    assert confirming["Location"] == REMOVE
    browser.post(REMOVE)
    assert not Authenticator.objects.exists()


def test_a_command_resets_it(recovery: list[str]) -> None:
    call_command("reset_second_factor", "ana")
    assert is_in(signed_in())


def test_a_confirmed_one_is_not_replaced(recovery: list[str]) -> None:
    browser, before = after_password(), stored_secret()
    browser.post(CODE, {"code": recovery[0]})
    asked: Any = browser.get(SETUP)
    browser.post(asked["Location"], {"password": PASSWORD})
    answer: Any = browser.get(SETUP)
    assert (answer.status_code, answer["Location"]) == (302, REMOVE)
    browser.post(SETUP, {"code": code_of(before)})
    assert stored_secret() == before


@pytest.mark.parametrize("path", [ACCOUNT, SETUP, REMOVE, RECOVERY, f"{ACCOUNT}password/", f"{ACCOUNT}confirm/"])
def test_strangers_are_led_to_the_login(db: None, path: str) -> None:
    answer: Any = Client().post(path, {"code": "000000"})
    assert (answer.status_code, answer["Location"].split("?")[0]) == (302, LOGIN)


def test_nobody_makes_an_account_of_their_own(db: None) -> None:
    answer: Any = Client().post("/console/login/sign-up/", {"username": "eve", "password1": PASSWORD})
    assert (answer.status_code, User.objects.exists()) == (302, False)
