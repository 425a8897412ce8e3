"""The production command serves, the health check reports it, and both end cleanly."""

import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.request import Request

import pytest

from tests.instance import PATIENCE, PROJECT, Instance, free_port, migrated_instance, wait_for


@pytest.fixture
def instance() -> Iterator[Instance]:
    with migrated_instance(WEB_PORT=str(free_port()), WEB_WORKERS="1", ALLOWED_HOSTS="127.0.0.1") as made:
        yield made


def health(instance: Instance) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/healthcheck.py"]
    return subprocess.run(command, cwd=PROJECT, env=instance.environment, check=False, capture_output=True, text=True)


def test_the_server_serves_until_it_is_asked_to_end(instance: Instance) -> None:
    server = instance.start("sh", "scripts/serve.sh")
    wait_for(lambda: health(instance).returncode == 0, instance=instance, process=server)
    address = f"http://127.0.0.1:{instance.environment['WEB_PORT']}/admin/login/"
    with urllib.request.urlopen(address, timeout=60) as page:
        assert b"csrfmiddlewaretoken" in page.read()
    with followed_events(instance) as stream:
        assert stream.readline().startswith(b":")
        server.terminate()
        server.wait(timeout=PATIENCE)
    assert "Killing" not in instance.output  # the stream does not keep its worker
    assert health(instance).returncode == 1


def followed_events(instance: Instance) -> Any:
    """Open a stream of events."""
    key = instance.run_all(["createproject", "p", "--slug=p"], ["createkey", "p", "--scope=admin"]).split()[-1]
    address, headers = f"http://127.0.0.1:{instance.environment['WEB_PORT']}/v1/events", {"X-API-Key": key}
    on = Request(f"{address}/log", b'{"is_on": true}', {**headers, "Content-Type": "application/json"}, method="PUT")
    urllib.request.urlopen(on, timeout=60).close()
    return urllib.request.urlopen(Request(f"{address}/stream", headers=headers), timeout=60)


def test_workers_end_with_a_server_that_is_killed(instance: Instance) -> None:
    """They would go on to serve with their old code, beside those of the next server."""
    server = instance.start("sh", "scripts/serve.sh")
    wait_for(lambda: health(instance).returncode == 0, instance=instance, process=server)
    server.kill()
    server.wait(timeout=PATIENCE)
    wait_for(lambda: health(instance).returncode == 1, instance=instance)
    wait_for(lambda: instance.processes() == [], instance=instance)


def test_the_health_check_fails_without_a_server(instance: Instance) -> None:
    told = health(instance)
    assert told.returncode == 1
    assert told.stderr.startswith(f"http://127.0.0.1:{instance.environment['WEB_PORT']}/healthz: ")
    assert told.stderr.count("\n") == 1
