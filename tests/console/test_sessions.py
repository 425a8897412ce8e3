"""Sessions of the console: a new key at the login, an end at the latest, and everywhere when the password changes."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

LOGIN, ACCOUNT = "/console/login/", "/console/login/account/"
PASSWORD, NEXT = "correct horse battery", "staple correct horse"


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_user("ana", password=PASSWORD)


def signed_in() -> Client:
    browser = Client()
    browser.post(LOGIN, {"login": "ana", "password": PASSWORD})
    assert is_in(browser)
    return browser


def is_in(browser: Client) -> bool:
    return browser.get(ACCOUNT).status_code == 200


def test_a_login_takes_no_session_that_was_there_before(ana: User) -> None:
    browser = Client()
    session = browser.session
    session["planted"] = "yes"
    session.save()
    planted = browser.cookies["sessionid"] = session.session_key
    browser.post(LOGIN, {"login": "ana", "password": PASSWORD})
    assert browser.cookies["sessionid"].value != planted
    assert is_in(browser)


def test_a_session_ends_however_much_it_is_used(ana: User, settings: Any) -> None:
    session = signed_in().session
    ends = session.get_expiry_date()
    session["used"] = True
    session.save()
    assert session.get_expiry_date() == ends
    left = (ends - timezone.now()).total_seconds()
    assert settings.SESSION_COOKIE_AGE - 60 < left <= settings.SESSION_COOKIE_AGE


def test_a_changed_password_ends_all_other_sessions(ana: User) -> None:
    mine, other = signed_in(), signed_in()
    form = {"oldpassword": PASSWORD, "password1": NEXT, "password2": NEXT}
    answer: Any = mine.post(f"{ACCOUNT}password/", form)
    assert (answer.status_code, answer["Location"]) == (302, ACCOUNT)
    assert (is_in(mine), is_in(other)) == (True, False)


@pytest.mark.parametrize("form", [{"oldpassword": "wrong"}, {"password1": "short", "password2": "short"}])
def test_a_password_is_changed_by_its_owner_and_to_a_good_one(ana: User, form: dict[str, str]) -> None:
    browser = signed_in()
    given = {"oldpassword": PASSWORD, "password1": NEXT, "password2": NEXT, **form}
    assert browser.post(f"{ACCOUNT}password/", given).status_code == 200
    ana.refresh_from_db()
    assert ana.check_password(PASSWORD)
