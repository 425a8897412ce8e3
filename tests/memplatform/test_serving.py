"""The production command serves, the health check reports it, and both end cleanly."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from memplatform import embedded
from tests.instance import free_port

PROJECT = Path(__file__).resolve().parents[2]
PATIENCE = 180  # seconds for a start on a busy machine


@pytest.fixture
def environment() -> Iterator[dict[str, str]]:
    """Return a free port and a new data folder."""
    folder = Path(tempfile.mkdtemp(prefix="srv", dir="/tmp"))
    given = {
        "MEMPLATFORM_DATA": str(folder),
        "DATABASE_URL": "",
        "WEB_PORT": str(free_port()),
        "ALLOWED_HOSTS": "127.0.0.1",
    }
    yield os.environ | given
    embedded.remove(folder / "postgresql")
    shutil.rmtree(folder)


@pytest.fixture
def server(environment: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sh", "scripts/serve.sh"], cwd=PROJECT, env=environment, start_new_session=True)
    yield process
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def health(environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/healthcheck.py"]
    return subprocess.run(command, cwd=PROJECT, env=environment, check=False, capture_output=True, text=True)


def await_health(environment: dict[str, str], server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while health(environment).returncode != 0:
        assert server.poll() is None, "the server ended"
        assert time.monotonic() < deadline, health(environment).stderr
        time.sleep(0.2)  # nothing else tells when a server begins to answer


def test_the_server_serves_until_it_is_asked_to_end(
    environment: dict[str, str], server: subprocess.Popen[bytes]
) -> None:
    await_health(environment, server)
    with urllib.request.urlopen(f"http://127.0.0.1:{environment['WEB_PORT']}/admin/login/", timeout=60) as page:
        assert b"csrfmiddlewaretoken" in page.read()
    server.terminate()
    server.wait(timeout=PATIENCE)
    assert health(environment).returncode == 1


def test_the_health_check_fails_without_a_server(environment: dict[str, str]) -> None:
    told = health(environment)
    assert told.returncode == 1
    assert told.stderr.startswith(f"http://127.0.0.1:{environment['WEB_PORT']}/healthz: ")
    assert told.stderr.count("\n") == 1
