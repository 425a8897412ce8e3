"""Attempts to log in are limited before a password is hashed; passwords are hashed with bounded means."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.contrib.auth.hashers import check_password, identify_hasher, make_password
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import connection
from django.http import HttpResponse
from django.test import Client, RequestFactory

from apps.projects.logins import login_limits
from apps.tenants.limits import client_address

LOGIN = "/console/login/"
PASSWORD = "correct horse battery"


@pytest.fixture
def ana(db: None) -> User:
    return User.objects.create_superuser("ana", password=PASSWORD)


def log_in(
    password: str = "wrong", *, name: str = "ana", path: str = LOGIN, address: str = "192.0.2.1"
) -> HttpResponse:
    response: Any = Client(REMOTE_ADDR=address).post(path, {"login": name, "password": password})
    return response


def test_the_right_password_is_refused_after_too_many_wrong_ones(ana: User) -> None:
    assert [log_in().status_code for _ in range(6)] == [200] * 5 + [429]
    refused = log_in(PASSWORD)
    assert (refused.status_code, int(refused["Retry-After"]) > 0) == (429, True)
    assert "Too many attempts" in refused.content.decode()
    assert log_in(PASSWORD, address="192.0.2.2").status_code == 302


def test_the_admin_has_no_login_of_its_own(ana: User) -> None:
    """It would ask for no second factor."""
    answer = log_in(PASSWORD, path="/admin/login/?next=/admin/")
    assert (answer.status_code, answer["Location"]) == (302, "/console/login/?next=/admin/")
    assert not answer.cookies.get("sessionid")


def test_a_wrong_name_and_a_wrong_password_are_answered_alike(ana: User) -> None:
    User.objects.create_user("gone", password=PASSWORD, is_active=False)
    pages = [log_in(name="ana"), log_in(name="nobody"), log_in(PASSWORD, name="gone")]
    said = [re.findall(r'<p class="problem"[^>]*>([^<]*)</p>', page.content.decode()) for page in pages]
    assert len(said[0]) == 1
    assert said[0] == said[1] == said[2]


def test_a_login_makes_the_attempts_of_its_owner_forgotten(ana: User) -> None:
    for _ in range(3):
        assert [log_in().status_code for _ in range(4)] == [200] * 4
        assert log_in(PASSWORD).status_code == 302


def test_many_names_from_one_address_are_limited(db: None) -> None:
    answers = [log_in(name=f"name{number}").status_code for number in range(31)]
    assert answers == [200] * 30 + [429]


@pytest.mark.django_db(transaction=True)
def test_of_many_attempts_at_once_five_are_checked() -> None:
    def attempt(_: int) -> int:
        try:
            return log_in().status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(attempt, range(24)))
    assert answers.count(200) == 5


def test_names_differ_by_more_than_case() -> None:
    assert login_limits(username="ANA", address="1") == login_limits(username="ana", address="1")


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "10.0.0.1, 203.0.113.9", "203.0.113.9"),
        (2, "203.0.113.9, 10.0.0.1", "203.0.113.9"),
        (2, "203.0.113.9", "192.0.2.1"),
        (1, "2001:db8:1:2:3:4:5:6", "2001:0db8:0001:0002"),
        (1, "nonsense", "unknown"),
    ],
)
def test_the_address_of_a_client(settings: Any, proxies: int, forwarded: str, expected: str) -> None:
    settings.PROXIES = proxies
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == expected


def test_passwords_are_hashed_with_argon2_of_bounded_cost() -> None:
    encoded = make_password(PASSWORD)
    assert encoded.startswith("argon2$argon2id$v=19$m=19456,t=2,p=1$")
    assert check_password(PASSWORD, encoded)
    assert not check_password("wrong", encoded)


def test_an_older_hash_is_replaced_at_the_next_login(ana: User) -> None:
    ana.password = make_password(PASSWORD, hasher="pbkdf2_sha256")
    ana.save()
    assert log_in(PASSWORD).status_code == 302
    ana.refresh_from_db()
    assert identify_hasher(ana.password).algorithm == "argon2"


@pytest.mark.parametrize("password", ["1", "short", "password1234", "123456789012345", "ana.maria.santos"])
def test_weak_passwords_are_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password, User(username="ana.maria.santos"))


@pytest.mark.django_db
def test_a_server_without_accounts_tells_how_to_make_the_first_one() -> None:
    told = b"createsuperuser"
    assert told in Client().get(LOGIN).content
    User.objects.create_superuser("ana", password=PASSWORD)
    assert told not in Client().get(LOGIN).content
