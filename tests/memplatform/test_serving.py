"""The production command serves, the health check reports it, and both end cleanly."""

import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from typing import Any
from urllib.request import Request

import httpx2
import psutil
import pytest

from tests.instance import PATIENCE, PROJECT, Instance, free_port, migrated_instance, wait_for

# Seconds after which granian kills a worker that does not end: the most that it takes. PATIENCE is shorter, so such a
# worker fails its test. granian's message proves nothing, as it also names workers that have just ended.
STOP_SECONDS = 1_800


@pytest.fixture
def instance() -> Iterator[Instance]:
    settings = {"WEB_WORKERS": "1", "WEB_STOP_SECONDS": str(STOP_SECONDS), "ALLOWED_HOSTS": "127.0.0.1"}
    with migrated_instance(WEB_PORT=str(free_port()), **settings) as made:
        yield made


def health(instance: Instance) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "scripts/healthcheck.py"]
    return subprocess.run(command, cwd=PROJECT, env=instance.environment, check=False, capture_output=True, text=True)


def test_the_server_serves_until_it_is_asked_to_end(instance: Instance) -> None:
    server = instance.start(*instance.command("serve"))
    wait_for(lambda: health(instance).returncode == 0, instance=instance, process=server)
    address = f"http://127.0.0.1:{instance.environment['WEB_PORT']}/admin/login/"
    with urllib.request.urlopen(address, timeout=60) as page:
        assert b"csrfmiddlewaretoken" in page.read()
    key = instance.run_all(["createproject", "p", "--slug=p"], ["createkey", "p", "--scope=admin"]).split()[-1]
    said = [f"{number} {'x' * 19_000}" for number in range(40)]
    assert [told for told in exported_texts(instance, key, said) if told in said] == said
    with followed_events(instance, key) as stream:
        assert stream.readline().startswith(b":")
        server.terminate()
        server.wait(timeout=PATIENCE)  # the stream does not keep its worker
    assert health(instance).returncode == 1


@pytest.mark.parametrize("ends", ["asked", "sentinel"])
def test_one_command_serves_and_works(ends: str) -> None:
    with migrated_instance(WEB_PORT=str(free_port()), ALLOWED_HOSTS="127.0.0.1", WEB_STOP_SECONDS="10") as instance:
        key = instance.new_key("p")
        both = instance.start(*instance.command("serve", "--with-workers"))
        wait_for(lambda: health(instance).returncode == 0, instance=instance, process=both)
        address, headers = f"http://127.0.0.1:{instance.environment['WEB_PORT']}/v1", {"X-API-Key": key}
        turns = {"user_id": "ana", "session_id": "monday", "turns": [{"role": "user", "content": "I live in Lisbon."}]}
        accepted = httpx2.post(f"{address}/turns", json=turns, headers=headers).json()
        trace = f"{address}/traces/{accepted['trace_id']}"
        wait_for(lambda: httpx2.get(trace, headers=headers).json()["status"] == "done", instance=instance, process=both)
        assert len(instance.processes()) <= 6
        has_children = {bool(each.children()): each for each in psutil.Process(both.pid).children()}
        has_children[False].kill()  # the web server's process, which is started again
        wait_for(lambda: health(instance).returncode == 0, instance=instance, process=both)
        (both.terminate if ends == "asked" else has_children[True].kill)()  # the other is the sentinel
        assert (both.wait(timeout=PATIENCE) == 0) is (ends == "asked"), instance.output
        wait_for(lambda: instance.processes() == [], instance=instance)


@pytest.fixture(scope="module")
def below() -> Iterator[tuple[str, str]]:
    """A server below a sub path, and a key."""
    port = free_port()
    settings = {"WEB_WORKERS": "1", "ALLOWED_HOSTS": "127.0.0.1", "PUBLIC_URL": "https://a.example/memory"}
    with migrated_instance(WEB_PORT=str(port), **settings) as instance:
        key = instance.run_all(["createproject", "p", "--slug=p"], ["createkey", "p", "--scope=admin"]).split()[-1]
        server = instance.start(*instance.command("serve"))
        wait_for(lambda: health(instance).returncode == 0, instance=instance, process=server)
        yield f"http://127.0.0.1:{port}", key


@pytest.mark.parametrize("shown", ["/memory", ""], ids=["passed_on", "removed_by_the_proxy"])
def test_a_server_below_a_sub_path_links_below_it(below: tuple[str, str], shown: str) -> None:
    address, headers = below[0] + shown, {"X-API-Key": below[1]}
    login = httpx2.get(f"{address}/console/", follow_redirects=False).headers["location"]
    assert login == "/memory/console/login/?next=/memory/console/"
    page = httpx2.get(f"{address}{login.removeprefix('/memory')}")
    linked = re.findall(r'(?:href|src|action)="(/[^"]*)"', page.text)
    assert linked
    assert [each for each in linked if not each.startswith("/memory/")] == []
    static = [each for each in linked if each.startswith("/memory/static/")]
    assert {httpx2.get(f"{address}{each.removeprefix('/memory')}").status_code for each in static} == {200}
    user = "ana" if shown else "ben"
    turns = {"user_id": user, "session_id": "s", "turns": [{"role": "user", "content": "I live in Lisbon."}]}
    assert httpx2.post(f"{address}/v1/turns", json=turns, headers=headers).status_code == 202
    assert httpx2.get(f"{address}/v1/traces?user_id={user}", headers=headers).json()["results"]
    assert httpx2.get(f"{address}/v1/nothing").headers["content-type"] == "application/problem+json"
    assert httpx2.post(f"{address}/mcp", json={}).status_code == 401
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    told = httpx2.post(f"{address}/mcp", json=call, headers={**headers, "Accept": "application/json"})
    assert "add_memory" in told.text


def exported_texts(instance: Instance, key: str, said: list[str]) -> list[str]:
    """Post turns, and return the contents of turns of an export that is longer than what the server keeps of it."""
    address, headers = f"http://127.0.0.1:{instance.environment['WEB_PORT']}/v1", {"X-API-Key": key}
    turns = [{"role": "user", "content": each} for each in said]
    body = json.dumps({"user_id": "ana", "session_id": "monday", "turns": turns}).encode()
    posting = Request(f"{address}/turns", body, {**headers, "Content-Type": "application/json"})
    urllib.request.urlopen(posting, timeout=60).close()
    with urllib.request.urlopen(Request(f"{address}/project/export", headers=headers), timeout=60) as answer:
        rows = map(json.loads, answer.read().splitlines())
        return [row["row"]["content"] for row in rows if row.get("kind") == "turns"]


def followed_events(instance: Instance, key: str) -> Any:
    """Open a stream of events."""
    address, headers = f"http://127.0.0.1:{instance.environment['WEB_PORT']}/v1/events", {"X-API-Key": key}
    on = Request(f"{address}/log", b'{"is_on": true}', {**headers, "Content-Type": "application/json"}, method="PUT")
    urllib.request.urlopen(on, timeout=60).close()
    return urllib.request.urlopen(Request(f"{address}/stream", headers=headers), timeout=60)


@pytest.mark.soak
def test_workers_end_with_a_server_that_is_killed(instance: Instance) -> None:
    """They would go on to serve with their old code, beside those of the next server."""
    server = instance.start(*instance.command("serve"))
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
