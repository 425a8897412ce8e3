"""The documentation is built without a broken link, and served with its scripts and nothing else."""

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

PROJECT = Path(__file__).resolve().parents[2]
SCRIPT = re.compile(r"<script>(.*?)</script>", re.DOTALL)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site; a broken link or anchor fails the build."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_in_the_navigation() -> None:
    navigation = (PROJECT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
    listed = re.findall(r"([\w/-]+\.md)$", navigation, flags=re.MULTILINE)
    pages = [page.relative_to(PROJECT / "docs").as_posix() for page in (PROJECT / "docs").rglob("*.md")]
    assert sorted(listed) == sorted(pages)


@pytest.fixture
def site(db: None, settings: Any, built: Path) -> Client:
    settings.DOCUMENTATION_ROOT = built
    return Client()


def body_of(answer: Any) -> str:
    return b"".join(answer.streaming_content).decode()


def test_pages_run_their_own_scripts_alone(site: Client) -> None:
    for address in ("/docs/", "/docs/quick-start/", "/docs/decisions/confidence/"):
        page = site.get(address)
        policy = page["Content-Security-Policy"]
        scripts = SCRIPT.findall(body_of(page))
        assert page.status_code == 200
        assert scripts
        assert "unsafe" not in policy
        for script in scripts:
            assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy


def test_nothing_is_loaded_from_other_hosts(site: Client, built: Path) -> None:
    for page in built.rglob("*.html"):
        loaded = re.findall(
            r"<(?:script|img|link rel=\"stylesheet\")[^>]*(?:src|href)=\"(https?://[^\"]*)", page.read_text()
        )
        assert loaded == [], page


def test_only_files_of_the_site_are_served(site: Client) -> None:
    for address in ("/docs/../manage.py", "/docs/%2e%2e/manage.py", "/docs//etc/passwd", "/docs/nothing/"):
        assert site.get(address).status_code in (400, 404)
    assert site.post("/docs/").status_code == 405


def test_where_it_was_not_built_the_page_says_how(db: None, settings: Any, tmp_path: Path) -> None:
    settings.DOCUMENTATION_ROOT = tmp_path
    assert Client().get("/docs/").status_code == 404


def test_the_map_of_the_api_names_requests_that_exist(db: None) -> None:
    """Each path of docs/api.md is one of the API."""
    paths = set(Client().get("/v1/schema?format=json").json()["paths"])
    named = re.findall(r"`(?:[A-Z, `]+ )?(/v1/[^`]*)`", (PROJECT / "docs/api.md").read_text())
    known = {re.sub(r"\{[^}]*\}", "{}", path) for path in paths} | {"/v1/docs", "/v1/schema"}
    assert named
    assert {re.sub(r"\{[^}]*\}", "{}", path) for path in named} <= known
