"""The steps of the Dockerfile make an image whose web server and cluster remember what they are told (`make soak`)."""

import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.deploy.files import PROJECT
from tests.deploy.image_builder import Stage, build, missing
from tests.instance import PATIENCE, free_port

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(bool(missing()), reason=f"building an image without an engine {missing()}"),
]

# What an operator does first; all in one container, as the processes of the embedded database must see each other.
BEFORE = " && ".join(
    [
        "set -e; .venv/bin/python manage.py migrate --noinput",
        ".venv/bin/python manage.py createproject p --slug=p",
        ".venv/bin/python manage.py createkey p > /data/key",
    ]
)


@pytest.fixture(scope="module")
def image() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="image-") as folder:
        yield build(PROJECT / "Dockerfile", Path(folder))


@pytest.fixture
def data(image: Stage) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="data-"))
    os.chown(folder, *map(int, image.ids().split(":")))
    yield folder
    shutil.rmtree(folder)


def test_a_container_of_the_image_remembers(image: Stage, data: Path) -> None:
    """As the user of the image, with a read-only file system, the embedded database in /data, and both services."""
    port = str(free_port())
    script = f"{BEFORE}; .venv/bin/python manage.py qcluster & exec {shlex.join(image.command)}"
    started = subprocess.Popen(
        image.argv(["sh", "-c", script], data=data, WEB_PORT=port, WEB_WORKERS="1", CLUSTER_WORKERS="1")
    )
    try:
        _until(lambda: _healthy(image, data, port), started)
        key = (data / "key").read_text().split()[-1]
        body = {"user_id": "kim", "session_id": "one", "turns": [{"role": "user", "content": "I live in Lyon."}]}
        _ask(port, key, "/v1/turns", body)
        _until(lambda: "Lyon" in _ask(port, key, "/v1/memories?user_id=kim"), started)
    finally:
        for first in psutil.Process(started.pid).children():
            first.kill()  # and with it all processes of its namespace
        started.wait(timeout=PATIENCE)


def _healthy(image: Stage, data: Path, port: str) -> bool:
    argv = image.argv([".venv/bin/python", "scripts/healthcheck.py"], data=data, WEB_PORT=port)
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def _ask(port: str, key: str, path: str, body: dict[str, object] | None = None) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return answer.read().decode()


def _until(done: Callable[[], bool], container: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert container.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.5)  # there is no notification
