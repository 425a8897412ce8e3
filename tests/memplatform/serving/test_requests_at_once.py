"""A real server with more callers than it answers at once: waiting, following, reading slowly, leaving, its end."""

import http.client
import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any

import psycopg
import pytest

from memplatform.embedded import socket_directory
from tests.instance import PATIENCE, Instance, free_port, migrated_instance, wait_for

CLIENTS = 64  # many more than the threads and the pool of the only process
THREADS = 4
# One connection for each thread, and for each of the two that ask for waiting callers. The pool opens one more whenever
# somebody waits for it, even if that caller is served by a returned one first, so that it may be ahead by a few.
CONNECTIONS = THREADS + 2 + 4
OPEN = "select count(*) from pg_stat_activity where application_name = 'memplatform'"
BUSY = f"{OPEN} and state <> 'idle'"
JSON = {"Content-Type": "application/json"}


@dataclass
class Served:
    """A server without a cluster: what is said to it stays queued."""

    instance: Instance
    port: int
    key: str

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        asking = self.connect()
        asking.request(method, path, body and json.dumps(body), {"X-API-Key": self.key, **JSON, **headers})
        answer = asking.getresponse()
        return answer.status, json.loads(answer.read())

    def says(self, user_id: str, content: str = "I live in Lisbon.") -> str:
        turns = [{"role": "user", "content": content}]
        status, accepted = self.ask("POST", "/v1/turns", {"user_id": user_id, "session_id": "s", "turns": turns})
        assert status == 202
        return str(accepted["trace_id"])

    def begin(self, path: str, **headers: str) -> socket.socket:
        """Send a request, and read nothing of the answer."""
        opened = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16_384)
        lines = [f"GET {path} HTTP/1.1", "Host: 127.0.0.1", f"X-API-Key: {self.key}"]
        opened.sendall(
            ("\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items())]) + "\r\n\r\n").encode()
        )
        return opened

    def count(self, sql: Any) -> int:
        folder = socket_directory(self.instance.folder / "postgresql")
        with psycopg.connect(host=str(folder), user="postgres", dbname="memplatform") as connection:
            ((found,),) = connection.execute(sql).fetchall()
            return int(found)


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    port = free_port()
    settings = {"WEB_WORKERS": "1", "WEB_THREADS": str(THREADS), "DB_POOL_SIZE": "20"}
    settings |= {"EVENT_STREAMS_PER_PROJECT": "8", "WAITING_REQUESTS": str(CLIENTS)}
    with migrated_instance(WEB_PORT=str(port), ALLOWED_HOSTS="127.0.0.1", **settings) as instance:
        made = Served(instance, port, new_admin(instance, "p"))
        server = instance.start(*instance.command("serve"))
        wait_for(lambda: is_ready(made), instance=instance, process=server)
        yield made


def new_admin(instance: Instance, slug: str) -> str:
    """Create a project and return a key with all scopes."""
    commands = ["createproject", slug, f"--slug={slug}"], ["createkey", slug, "--scope=admin"]
    return instance.run_all(*commands).split()[-1]


def is_ready(served: Served) -> bool:
    with suppress(OSError):
        return served.ask("GET", "/readyz")[0] == 200
    return False


def test_many_callers_share_few_connections(served: Served) -> None:
    with ThreadPoolExecutor(CLIENTS) as callers:
        said = [callers.submit(served.says, f"caller {number}") for number in range(CLIENTS * 3)]
        most = max(served.count(OPEN) for _ in range(20))
        assert len({each.result() for each in said}) == CLIENTS * 3
    assert most <= CONNECTIONS


def test_a_monitor_may_use_any_address(served: Served) -> None:
    for path in ("/healthz", "/readyz"):
        assert served.ask("GET", path, Host="10.1.2.3")[0] == 200
    assert served.ask("GET", "/v1/memories", Host="10.1.2.3")[0] == 400


def test_waiting_callers_hold_no_connection_and_are_answered_when_their_time_is_up(served: Served) -> None:
    trace = served.says("waiter")
    with ThreadPoolExecutor(CLIENTS) as callers:
        waiting = [callers.submit(served.ask, "GET", f"/v1/traces/{trace}?wait=10") for _ in range(CLIENTS)]
        time.sleep(2)
        assert max(served.count(OPEN) for _ in range(10)) <= CONNECTIONS
        assert served.ask("GET", "/v1/memories?user_id=waiter")[0] == 200
        assert served.ask("GET", f"/v1/traces/{trace}?wait=30")[1]["status"] == "queued"  # one too many: not waited for
        assert not any(each.done() for each in waiting)
        answers = [each.result() for each in waiting]
    assert {(status, body["status"]) for status, body in answers} == {(200, "queued")}


def test_callers_that_leave_while_they_wait_leave_nothing(served: Served) -> None:
    trace = served.says("leaver")
    for _ in range(3):
        with ExitStack() as stack:
            for _ in range(THREADS * 4):
                stack.enter_context(served.begin(f"/v1/traces/{trace}?wait=30"))
            time.sleep(0.5)
    assert served.ask("GET", "/v1/memories?user_id=leaver")[0] == 200
    wait_for(lambda: not served.count(BUSY), instance=served.instance)
    assert served.count(OPEN) <= CONNECTIONS


def test_streams_deliver_resume_and_are_bounded(served: Served) -> None:
    last = served.ask("PUT", "/v1/events/log", {"is_on": True})[1]["last_number"]
    with ExitStack() as stack:
        streams = [stack.enter_context(served.begin(f"/v1/events/stream?after={last}")) for _ in range(8)]
        files = [stack.enter_context(each.makefile("rb")) for each in streams]
        for each in files:
            assert b"200" in each.readline()
        wait_for(lambda: served.ask("GET", "/v1/events/stream")[0] == 429, instance=served.instance)
        assert served.ask("GET", "/v1/memories?user_id=kim")[0] == 200
        told = {
            "user_id": "kim",
            "memories": [{"type": "fact", "content": f"Kim rows {word}."} for word in ("far", "fast")],
        }
        assert served.ask("POST", "/v1/memories", told)[0] == 201
        sender = served.instance.start(*served.instance.command("qcluster"))
        ((first, second),) = {(next_number(each), next_number(each)) for each in files}
        assert first is not None
    with ExitStack() as stack:
        wait_for(lambda: begins(stack, served, first) == second, instance=served.instance)  # others have left
    sender.terminate()
    sender.wait(timeout=PATIENCE)


def begins(stack: ExitStack, served: Served, after: int) -> int | None:
    """Return the number of the first event of a stream; None if there are too many streams."""
    headers = {"Last-Event-ID": str(after), "Connection": "close"}
    opened = stack.enter_context(served.begin("/v1/events/stream", **headers))
    return next_number(stack.enter_context(opened.makefile("rb")))


def next_number(stream: Any) -> int | None:
    return next((int(line[4:]) for line in stream if line.startswith(b"id: ")), None)


@pytest.mark.parametrize(("size", "headers"), [(5_000_000, {}), (200_000, {"X-API-Key": ""})])
def test_bodies_that_are_too_large_are_refused(served: Served, size: int, headers: dict[str, str]) -> None:
    """Without credentials less is read."""
    own = {} if headers else {"X-API-Key": served.key}
    for chunked in (False, True):
        asking = served.connect()
        body: Any = iter([b"x" * 1_000] * (size // 1_000)) if chunked else b"x" * size
        with suppress(OSError):  # the connection is closed while the body is sent
            asking.request("POST", "/v1/turns", body, {**JSON, **own}, encode_chunked=chunked)
        answer = asking.getresponse()
        assert (answer.status, answer.headers["Content-Type"]) == (413, "application/problem+json")
        assert json.loads(answer.read())["code"] == "too_large"


def test_slow_readers_of_long_answers_hold_up_nobody(served: Served) -> None:
    served = replace(served, key=new_admin(served.instance, "long"))  # nothing comes before the long texts
    for number in range(60):
        turns = [{"role": "user", "content": f"{number} {place} {'x' * 19_000}"} for place in range(10)]
        body = {"user_id": "long", "session_id": f"s{number}", "turns": turns}
        assert served.ask("POST", "/v1/turns", body)[0] == 202
    with ExitStack() as stack:
        for _ in range(THREADS * 3):
            stack.enter_context(served.begin("/v1/project/export"))
        deadline = time.monotonic() + PATIENCE  # all readers have been given a part by then
        while (busy := sum(served.count(BUSY) for _ in range(10))) > 10:
            assert time.monotonic() < deadline, busy
            time.sleep(0.5)
        assert served.ask("GET", "/v1/memories?user_id=kim")[0] == 200
        assert served.count(OPEN) <= CONNECTIONS + THREADS * 3
