"""What answers carry: pages what protects pages, the API what every answer carries."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

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
    client.post("/admin/login/", {"username": "ana", "password": "x"})

    assert EVERYWHERE.items() <= dict(page.headers).items()
    assert "default-src 'self'" in page["Content-Security-Policy"]
    assert client.get("/admin/").status_code == 200


def test_a_form_without_its_token_is_refused(db: None) -> None:
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "ana", "password": "x"})

    assert answer.status_code == 403
