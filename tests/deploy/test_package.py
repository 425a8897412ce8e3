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
