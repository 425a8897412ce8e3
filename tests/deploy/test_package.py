"""The packages of the server and the client: built, installed, and used from an empty folder."""

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from tests.instance import PROJECT

PATIENCE = 300
# Import all views, as the server does when it starts, in a process that can't import what these distributions contain.
START_WITHOUT = """
import importlib.metadata, sys
for package, distributions in importlib.metadata.packages_distributions().items():
    if set(distributions) <= set(sys.argv[1:]):
        sys.modules[package] = None
sys.modules["opentelemetry.sdk"] = sys.modules["opentelemetry.exporter"] = None  # in a package with the API
import memplatform.asgi
from django.urls import get_resolver
for pattern in get_resolver().url_patterns:
    list(getattr(pattern, "url_patterns", ()))
from apps.providers import registry
registry.embedder().embed(["a sentence"])
"""


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Build both from what is committed or about to be, as `make wheels` does."""
    copy = tmp_path_factory.mktemp("checkout")
    files = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard"], cwd=PROJECT, text=True)
    for file in filter(Path.is_file, map(Path, files.splitlines())):
        (copy / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, copy / file)
    run("sh", "scripts/wheels.sh", cwd=copy, PYTHON=sys.executable)
    return sorted((copy / "var/wheels").glob("*.whl"))


def test_the_demo_runs_from_the_package(wheels: list[Path], tmp_path: Path) -> None:
    """The packages it needs are those of the tests; only its own files have to be inside."""
    installed, home = tmp_path / "installed", tmp_path / "home"
    home.mkdir()
    run(sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(installed), *map(str, wheels))
    memplatform = [sys.executable, "-m", "memplatform"]
    try:
        said = run(*memplatform, "demo", "--once", cwd=home, HOME=str(home), PYTHONPATH=str(installed))
        assert "Sent 167 turns in 12 sessions" in said
        assert (home / ".local/share/memplatform").is_dir()
    finally:
        run(*memplatform, "stop", cwd=home, HOME=str(home), PYTHONPATH=str(installed))


def test_the_server_starts_without_the_packages_of_the_extra() -> None:
    listed = (read_names(PROJECT / each) for each in ("requirements-server.txt", "requirements-dev.txt"))
    needed = read_names(PROJECT / "requirements.txt")
    absent = sorted({name for names in listed for name in names} - needed)
    assert {"redis", "opentelemetry-sdk", "oauthlib", "pygments"} <= set(absent)
    run(sys.executable, "-c", START_WITHOUT, *absent, DJANGO_SETTINGS_MODULE="memplatform.settings")


def read_names(requirements: Path) -> set[str]:
    return {line.split("==")[0] for line in requirements.read_text().splitlines() if "==" in line}


@pytest.mark.soak
def test_an_empty_environment_needs_no_more_than_the_wheels(wheels: list[Path], tmp_path: Path) -> None:
    venv.create(tmp_path / "env", with_pip=True)
    run(str(tmp_path / "env/bin/pip"), "install", "--quiet", *map(str, wheels))
    memplatform = str(tmp_path / "env/bin/memplatform")
    try:
        said = run(memplatform, "demo", "--once", cwd=tmp_path, HOME=str(tmp_path))
        assert "Sent 167 turns in 12 sessions" in said
    finally:
        run(memplatform, "stop", cwd=tmp_path, HOME=str(tmp_path))


def run(*command: str, cwd: Path = PROJECT, **environment: str) -> str:
    """Run a command and return what it prints; its errors fail the test."""
    free = {name: value for name, value in os.environ.items() if not name.startswith(("DJANGO", "MEMPLATFORM", "DATA"))}
    done = subprocess.run(
        command, cwd=cwd, env=free | environment, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-2_000:]
    return done.stdout
