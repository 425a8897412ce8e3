"""Signing in through an OpenID Connect provider: a provider of our own plays the part of the company's."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from apps.tenants.enums import MemberRole
from apps.tenants.models import Membership, Project
from memplatform.environment import Environment, InvalidSetting

LOGIN, ACCOUNT = "/console/login/", "/console/login/account/"
BEGIN, CALLBACK = f"{LOGIN}single-sign-on/oidc/", f"{LOGIN}single-sign-on/oidc/callback/"
CLIENT_ID, SECRET = "memplatform", "a secret"


class Provider(ThreadingHTTPServer):
    """An OpenID Connect provider that takes the code "right" of whoever `person` is."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.person = {"sub": "7", "preferred_username": "ana", "email": "ana@example.com", "email_verified": True}
        self.asked: list[dict[str, list[str]]] = []  # the forms sent to the token endpoint

    @property
    def address(self) -> str:
        """The issuer."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        provider = cast(Provider, self.server)
        if self.path == "/userinfo":
            self._send(provider.person)
        else:
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "userinfo_endpoint": "userinfo"}
            found = {name: f"{provider.address}/{path}" for name, path in {**names, "jwks_uri": "keys"}.items()}
            self._send({"issuer": provider.address, **found})

    def do_POST(self) -> None:
        provider = cast(Provider, self.server)
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        provider.asked.append(form)
        if form["code"] != ["right"]:
            self._send({"error": "invalid_grant"}, status=400)
            return
        claims = {"iss": provider.address, "aud": CLIENT_ID, "exp": 4_000_000_000, "iat": 0, **provider.person}
        token = jwt.encode(claims, "key of the provider, thirty-two bytes", algorithm="HS256")
        self._send({"access_token": "t", "token_type": "Bearer", "id_token": token})

    def _send(self, answer: dict[str, Any], status: int = 200) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Write nothing."""


@contextmanager
def serving() -> Iterator[Provider]:
    with Provider() as provider:
        Thread(target=provider.serve_forever, daemon=True).start()
        yield provider
        provider.shutdown()


@pytest.fixture
def provider(db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[Provider]:
    with serving() as provider:
        address = provider.address.replace("//", f"//{CLIENT_ID}:a%20secret@")
        monkeypatch.setenv("SINGLE_SIGN_ON_URL", address)
        settings.SOCIALACCOUNT_PROVIDERS = Environment("/nonexistent").single_sign_on("SINGLE_SIGN_ON_URL")
        yield provider


def signed_in(browser: Client, *, code: str = "right", **query: str) -> Any:
    """Go through the provider, as a browser would, and return the last answer of this server."""
    sent: Any = browser.get(BEGIN, query)
    asked = parse_qs(urlsplit(sent["Location"]).query)
    assert asked["redirect_uri"] == [f"http://testserver{CALLBACK}"]
    return browser.get(CALLBACK, {"code": code, "state": asked["state"][0]})


def is_in(browser: Client) -> bool:
    return browser.get(ACCOUNT).status_code == 200


def test_the_login_page_offers_it_only_where_it_is_set(db: None, provider: Provider, settings: Settings) -> None:
    assert BEGIN in Client().get(LOGIN).content.decode()
    settings.SOCIALACCOUNT_PROVIDERS = {}
    assert BEGIN not in Client().get(LOGIN).content.decode()
    assert Client().get(BEGIN).status_code == 404


def test_whoever_the_provider_knows_gets_an_account_without_any_project(provider: Provider, project: Project) -> None:
    browser = Client()
    assert signed_in(browser)["Location"] == "/console/"
    assert is_in(browser)
    assert User.objects.get().username == "ana"
    account = browser.get(ACCOUNT).content.decode()
    assert "You sign in through an identity provider" in account
    assert "password" not in account.lower(), "there is none that could be asked for"
    assert browser.get(f"/console/{project.slug}/dashboard/").status_code == 404
    assert provider.asked[0]["client_id"] == [CLIENT_ID]
    again = Client()
    signed_in(again)
    assert (is_in(again), User.objects.count()) == (True, 1)


def test_a_confirmed_address_leads_to_the_account_of_a_member(provider: Provider, project: Project) -> None:
    member = User.objects.create_user("maria", email="ana@example.com", password="correct horse battery")
    Membership.objects.create(project=project, user=member, role=MemberRole.REVIEWER)
    browser = Client()
    address = f"/console/{project.slug}/review/"
    assert signed_in(browser, next=address)["Location"] == address
    assert browser.get(address).status_code == 200
    assert User.objects.count() == 1


def test_an_address_that_is_not_confirmed_leads_to_no_account(provider: Provider) -> None:
    User.objects.create_user("maria", email="ana@example.com", password="correct horse battery")
    provider.person["email_verified"] = False
    browser = Client()
    answer = browser.get(signed_in(browser)["Location"])
    assert "This address has an account" in answer.content.decode()
    assert not is_in(browser)
    assert User.objects.count() == 1


def test_a_name_that_is_taken_gets_another_account(provider: Provider) -> None:
    User.objects.create_superuser("Ana", email="root@example.com", password="correct horse battery")
    browser = Client()
    signed_in(browser)
    assert is_in(browser)
    assert not User.objects.get(email="ana@example.com").is_superuser


def test_a_deactivated_account_stays_out(provider: Provider) -> None:
    signed_in(Client())
    User.objects.update(is_active=False)
    browser = Client()
    signed_in(browser)
    assert not is_in(browser)


@pytest.mark.parametrize("query", [{"code": "wrong"}, {"code": "right", "state": "of somebody else"}])
def test_a_wrong_answer_of_the_provider_logs_nobody_in(provider: Provider, query: dict[str, str]) -> None:
    browser = Client()
    sent: Any = browser.get(BEGIN)
    state = parse_qs(urlsplit(sent["Location"]).query)["state"][0]
    answer = browser.get(CALLBACK, {"state": state, **query})
    assert answer.status_code in (200, 302, 401)
    assert not is_in(browser)
    assert not User.objects.exists()


def test_a_provider_that_is_away_is_a_page(provider: Provider) -> None:
    provider.shutdown()
    provider.server_close()
    browser = Client()
    led: Any = browser.get(BEGIN)
    assert (led.status_code, led["Location"]) == (302, f"{LOGIN}failed/")
    assert browser.get(led["Location"]).status_code in (200, 401)


def test_nobody_is_led_elsewhere_afterwards(provider: Provider) -> None:
    assert signed_in(Client(), next="https://evil.example/")["Location"] == "/console/"


@pytest.mark.parametrize("address", ["login.example.com", "https://login.example.com", "https://id@login.example.com"])
def test_an_address_without_a_client_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SINGLE_SIGN_ON_URL", address)
    with pytest.raises(InvalidSetting, match="SINGLE_SIGN_ON_URL must be like"):
        Environment("/nonexistent").single_sign_on("SINGLE_SIGN_ON_URL")
