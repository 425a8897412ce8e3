"""The documentation is shown as pages without a broken link, and can be searched."""

import re
from pathlib import Path
from urllib.parse import urljoin

import pytest
from django.test import Client

from memplatform.documentation import CONTENTS, page_address, page_names

PROJECT = Path(__file__).resolve().parents[2]
LINK = re.compile(r'<(?:a|img|link|script)[^>]* (?:href|src)="([^"]*)"')


@pytest.fixture
def site(db: None) -> Client:
    return Client()


def page(site: Client, address: str) -> str:
    answer = site.get(address)
    assert answer.status_code == 200, address
    return answer.content.decode()


def test_every_page_is_in_the_contents() -> None:
    listed = re.findall(r"\(([\w/-]+\.md)\)", (PROJECT / "docs" / CONTENTS).read_text())
    assert tuple(sorted(listed)) == page_names()


def test_every_link_leads_somewhere(site: Client) -> None:
    """Links to pages, to headings in them, and to images; nothing is loaded from other hosts."""
    pages = {page_address(name): page(site, page_address(name)) for name in page_names()}
    for address, shown in pages.items():
        for link in LINK.findall(shown):
            target, _, anchor = urljoin(address, link).partition("#")
            if target in pages:
                assert not anchor or f'id="{anchor}"' in pages[target], (address, link)
            elif target.startswith("/"):
                assert site.get(target).status_code == 200, (address, link)
            else:
                assert f'<a href="{link}"' in shown, (address, link)  # what is loaded is of this server


def test_code_is_shown_as_it_is_written(site: Client) -> None:
    for name in page_names():
        prose = re.sub(r"<pre.*?</pre>", "", page(site, page_address(name)), flags=re.DOTALL)
        assert "```" not in prose, name


def test_the_page_shown_is_marked_in_the_contents(site: Client) -> None:
    assert 'href="/docs/quick-start/" aria-current="page"' in page(site, "/docs/quick-start/")


def test_a_search_finds_sections_by_words_in_any_order(site: Client) -> None:
    found = page(site, "/docs/?q=superuser+First")
    assert '<a href="/docs/deploy/#' in found
    assert "No section holds all of these words" in page(site, "/docs/?q=superuser+wombat")
    assert "<script>alert" not in page(site, "/docs/?q=<script>alert(1)</script>")


def test_only_files_of_the_documentation_are_sent(site: Client) -> None:
    for address in ("/docs/../manage.py", "/docs/%2e%2e/manage.py", "/docs/%2e%2e/", "/docs//etc/passwd", "/docs/no/"):
        assert site.get(address).status_code in (400, 404)
    assert site.get("/docs/images/review-light.png").status_code == 200
    assert site.get("/docs/decisions/../quick-start/").status_code == 404  # a page has one address
    assert site.post("/docs/").status_code == 405


def test_the_map_of_the_api_names_requests_that_exist(site: Client) -> None:
    """Each path of docs/api.md is one of the API."""
    paths = set(site.get("/v1/schema?format=json").json()["paths"])
    named = re.findall(r"`(?:[A-Z, `]+ )?(/v1/[^`]*)`", (PROJECT / "docs/api.md").read_text())
    known = {re.sub(r"\{[^}]*\}", "{}", path) for path in paths} | {"/v1/docs", "/v1/schema"}
    assert named
    assert {re.sub(r"\{[^}]*\}", "{}", path) for path in named} <= known
