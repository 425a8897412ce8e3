"""The five steps of the page on deploying lead from an empty Debian to the first memory (`make soak`)."""

import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.deploy.files import PROJECT
from tests.deploy.image_builder import Stage, empty_root, missing
from tests.instance import PATIENCE, free_port

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(bool(missing()), reason=f"installing a Debian {missing()}"),
]

INSTALL_SECONDS = 900
HEADING = "## From a bare Debian to the first memory\n"
MOST_STEPS = 5


@pytest.fixture(scope="module")
def root() -> Iterator[Stage]:
    with tempfile.TemporaryDirectory(prefix="debian-") as folder:
        stage = Stage(empty_root("debian:trixie-slim", Path(folder) / "root"))
        files = subprocess.run(["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True)
        for name in filter(None, files.stdout.split("\0")):
            target = stage.root / "opt/memplatform" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, target)
        stage.run(["apt-get", "update", "--quiet"])
        yield stage


def test_the_steps_of_the_page_lead_to_a_memory(root: Stage) -> None:
    steps = _steps()
    assert len(steps) <= MOST_STEPS
    port = free_port()
    script = "\n".join(["set -e", *steps])
    settings = {"WEB_PORT": str(port), "DEBIAN_FRONTEND": "noninteractive", **root.certificates()}
    with tempfile.TemporaryFile("w+") as output:
        argv = root.argv(["sh", "-c", script], **settings)
        server = subprocess.Popen(argv, stdout=output, stderr=subprocess.STDOUT)
        try:
            key = _key(server, output, port)
            turns = [{"role": "user", "content": "I live in Lyon."}]
            body = {"user_id": "kim", "session_id": "one", "mode": "sync", "turns": turns}
            _ask(port, key, "/v1/turns", body)
            assert "Lyon" in _ask(port, key, "/v1/memories?user_id=kim")
        finally:
            for first in psutil.Process(server.pid).children() if server.poll() is None else ():
                first.kill()  # and with it all processes of its namespace
            server.wait(timeout=PATIENCE)


def _steps() -> list[str]:
    """Return the commands of each step of the page."""
    section = (PROJECT / "docs/deploy.md").read_text().partition(HEADING)[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def _key(server: "subprocess.Popen[bytes]", output: "tempfile._TemporaryFileWrapper[str]", port: int) -> str:
    """Wait until the server answers; return the key that the fourth step showed."""
    deadline = time.monotonic() + INSTALL_SECONDS
    while True:
        output.seek(0)
        shown = output.read()
        assert server.poll() is None, shown
        assert time.monotonic() < deadline, shown
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5):
                found = re.search(r"\bmp_\S+", shown)
                assert found is not None, shown
                return found[0]
        except OSError:
            time.sleep(1)  # there is no notification


def _ask(port: int, key: str, path: str, body: dict[str, object] | None = None) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}",
        data=json.dumps(body).encode() if body else None,
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        text: str = answer.read().decode()
        return text
