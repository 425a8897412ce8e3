"""A server that is asked to end answers the requests that it has taken; answers that fail are seen to be incomplete."""

import http.client
import json
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from benchmarks.model_server import ModelServer, running
from tests.instance import PATIENCE, Instance, free_port, migrated_instance, wait_for

DELAY_MS = 3_000.0  # of the model: longer than it takes to ask a server to end


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with running(ModelServer(delay_ms=DELAY_MS)) as made:
        yield made


@pytest.fixture
def instance(model: ModelServer) -> Iterator[Instance]:
    settings = {
        "MODEL": "anthropic:claude-haiku-4-5",
        "ANTHROPIC_API_KEY": "none",
        "ANTHROPIC_BASE_URL": model.url,
        "WEB_WORKERS": "1",
        "ALLOWED_HOSTS": "127.0.0.1",
    }
    with migrated_instance(WEB_PORT=str(free_port()), **settings) as made:
        yield made


def ask(instance: Instance, method: str, path: str, body: Any = None, *, key: str = "") -> http.client.HTTPResponse:
    asking = http.client.HTTPConnection("127.0.0.1", int(instance.environment["WEB_PORT"]), timeout=PATIENCE)
    headers = {"X-API-Key": key, "Content-Type": "application/json"}
    asking.request(method, path, json.dumps(body) if body else None, headers)
    return asking.getresponse()


def is_ready(instance: Instance) -> bool:
    try:
        return ask(instance, "GET", "/readyz").status == 200
    except OSError:
        return False


def test_open_requests_are_answered(instance: Instance, model: ModelServer) -> None:
    key = instance.new_key("p")
    server = instance.start(*instance.command("serve"))
    wait_for(lambda: is_ready(instance), instance=instance, process=server)
    turns = [{"role": "user", "content": "I moved to Porto, where my sister has a bakery, and I help her."}]
    body = {"user_id": "ana", "session_id": "s", "mode": "sync", "turns": turns}
    statuses: list[int] = []
    caller = threading.Thread(target=lambda: statuses.append(ask(instance, "POST", "/v1/turns", body, key=key).status))
    caller.start()
    wait_for(lambda: model.view()["now"] > 0, instance=instance, process=server)
    server.send_signal(signal.SIGTERM)
    caller.join(PATIENCE)
    assert statuses == [200]
    assert server.wait(timeout=PATIENCE) == 0
    wait_for(lambda: instance.processes() == [], instance=instance)
