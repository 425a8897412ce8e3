"""Every answer in HTML has a Content-Security-Policy that runs no inline script, whatever is asked for and by whom."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.test import Client
from django.urls import NoReverseMatch, path

from apps.tenants.models import Project
from memplatform.urls import handler400 as handler400
from memplatform.urls import handler404 as handler404
from memplatform.urls import handler500 as handler500
from memplatform.urls import urlpatterns as real
from tests.test_who_may_call import URLS, url_of

OTHERS = ("/", "/nothing", "/console/nothing/at/all", "/admin/nothing/", "/console", "/breaks", "/static/nothing")


def breaks(_: HttpRequest) -> Any:
    raise RuntimeError("a defect")


urlpatterns = [*real, path("breaks", breaks)]


def addresses() -> Iterator[str]:
    """Yield an address of each URL pattern, and those of pages that tell of errors."""
    for namespace, pattern in URLS:
        try:
            yield url_of(pattern, namespace=namespace)
        except (KeyError, NoReverseMatch):  # of a catch-all, or without a name
            continue
    yield from OTHERS


def is_safe(answer: Any) -> bool:
    """Return True for an answer that is no page, or has a policy without inline scripts and styles."""
    if not answer.headers.get("Content-Type", "").startswith("text/html"):
        return True
    policy = answer.headers.get("Content-Security-Policy", "")
    scripts = [each for each in policy.split("; ") if each.split()[0] == "script-src"]  # alone, it allows none
    return "unsafe" not in policy and "object-src 'none'" in policy and len(scripts) == 1 and "*" not in policy


@pytest.mark.urls(__name__)
@pytest.mark.parametrize("who", ["anonymous", "superuser"])
def test_all_pages(project: Project, who: str) -> None:
    browser = Client(raise_request_exception=False)
    if who == "superuser":
        browser.force_login(User.objects.create_superuser("chief"))
    pages = 0
    for address in addresses():
        for answer in (browser.get(address), browser.post(address)):
            assert is_safe(answer), (address, answer.status_code, answer.headers)
            pages += answer.headers.get("Content-Type", "").startswith("text/html")
    assert pages > 100, "the walk found the pages"


@pytest.mark.parametrize("address", ["/console/test/review/", "/admin/", "/v1/docs", "/nothing"])
def test_the_refusal_of_another_host(db: None, address: str) -> None:
    """Middleware refuses it, whatever is asked for."""
    answer = Client().get(address, HTTP_HOST="evil.example")
    assert (answer.status_code, is_safe(answer)) == (400, True)


def test_a_form_without_its_token_is_refused_by_a_safe_page(db: None) -> None:
    assert is_safe(Client(enforce_csrf_checks=True).post("/console/login/", {"login": "ana"}))


def test_the_documentation_runs_only_its_own_scripts(db: None) -> None:
    page = Client().get("/v1/docs")
    policy, text = page["Content-Security-Policy"], page.content.decode()
    nonce = policy.split("'nonce-")[1].split("'")[0]
    assert text.count("<script") == text.count(f'<script nonce="{nonce}"') == 3
    assert "style" not in text.replace('rel="stylesheet"', "").split("</head>")[0]
