"""Response headers of pages and of the API."""

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

NONCE = re.compile(r"script-src 'nonce-([^']+)'")
SCRIPT = re.compile(r"<script[^>]*>")
EVERYWHERE = {"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"}


def test_answers_of_the_api_know_no_browser(client: APIClient, conversation: dict[str, Any]) -> None:
    answer = client.post("/v1/turns", conversation)

    assert answer.status_code == 202
    assert EVERYWHERE.items() <= dict(answer.headers).items()
    assert "Content-Security-Policy" not in answer
    assert not answer.cookies


@pytest.mark.parametrize("path", ["/v1/docs", "/v1/schema"])
def test_the_documentation_is_shown(db: None, path: str) -> None:
    assert Client().get(path).status_code == 200


def test_pages_carry_what_protects_them(db: None) -> None:
    User.objects.create_superuser("ana", password="x")
    client = Client()

    page = client.get("/console/login/")
    client.post("/console/login/", {"login": "ana", "password": "x"})

    assert EVERYWHERE.items() <= dict(page.headers).items()
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert page["Cache-Control"] == "no-store"
    assert page["Referrer-Policy"] == "same-origin"
    assert client.get("/admin/").status_code == 200


def test_a_form_without_its_token_is_refused(db: None) -> None:
    answer = Client(enforce_csrf_checks=True).post("/console/login/", {"login": "ana", "password": "x"})

    assert answer.status_code == 403


def test_scripts_of_the_console_carry_the_nonce_of_their_page(db: None) -> None:
    pages = [Client().get("/console/login/") for _ in range(2)]
    nonces = [NONCE.findall(page["Content-Security-Policy"]) for page in pages]

    assert [len(each) for each in nonces] == [1, 1]
    assert nonces[0] != nonces[1]
    for page, (nonce,) in zip(pages, nonces, strict=True):
        scripts = SCRIPT.findall(page.content.decode())
        assert scripts
        assert all(f'nonce="{nonce}"' in script for script in scripts)


def test_scripts_of_the_admin_come_from_this_server(db: None) -> None:
    assert "script-src 'self'" in Client().get("/admin/")["Content-Security-Policy"]


@pytest.mark.parametrize("path", ["/console/login/", "/admin/"])
def test_a_form_with_nul_is_refused(db: None, path: str) -> None:
    assert Client().post(path, {"login": "a\0", "password": "x"}).status_code == 400


def test_a_query_of_the_admin_with_nul_is_refused(db: None) -> None:
    assert Client().get("/admin/?q=%00").status_code == 400


@pytest.mark.parametrize("header", ["Authorization", "X-API-Key"])
def test_a_key_that_comes_in_clear_is_refused_where_https_is_used(db: None, settings: Any, header: str) -> None:
    settings.SECURE_SSL_REDIRECT = True
    told = Client().get("/v1/memories", headers={header: "Bearer mp_x"})
    assert (told.status_code, told.json()["code"]) == (403, "https_required")
    assert Client().get("/v1/memories").status_code == 301
    assert Client().get("/v1/memories", headers={header: "Bearer mp_x"}, secure=True).json()["code"] == "invalid_key"
