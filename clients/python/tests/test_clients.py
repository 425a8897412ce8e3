"""Requests, answers, retries, errors and pages of the client; the asynchronous one has the same methods."""

import asyncio
import inspect
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import pytest

from memplatform_client import (
    APIError,
    AsyncClient,
    AuthenticationFailed,
    Client,
    Conflict,
    ConnectionFailed,
    InvalidRequest,
    MemplatformError,
    NotFound,
    PermissionDenied,
    RateLimited,
    Retries,
    ServerError,
    WaitTimeout,
)
from scripted import AT_ONCE, ScriptedServer, complete, page, scripted

ACCEPTED = {"trace_id": "trc_1", "status": "queued", "adjusted": [], "redacted": {}}
BUSY = {"code": "queue_full", "detail": "try later"}
REFUSED = httpx2.ConnectError("refused")
SAID: Any = [{"role": "user", "content": "I live in Lyon."}]


def test_a_request_holds_the_key_and_what_was_given() -> None:
    client, server = scripted((202, ACCEPTED))
    assert client.write_turns(user_id="kim", session_id="s", turns=SAID) == ACCEPTED
    (request,) = server.requests
    assert (request.method, request.url.path) == ("POST", "/v1/turns")
    assert request.headers["Authorization"] == "Bearer mp_key"
    assert server.bodies() == [{"user_id": "kim", "session_id": "s", "turns": SAID, "mode": "async"}]


def test_agents_and_filters_are_sent_where_they_belong() -> None:
    client, server = scripted((202, ACCEPTED), (200, {"results": []}), (200, {"results": []}))
    client.write_turns(user_id="kim", session_id="s", turns=SAID, agent_id="a1", run_id="r1")
    client.search("kim", "home", agent_id="a1", filter={"tags": "goal"})
    client.list_memories(user_id="kim", filter={"tags": "goal"})
    said, asked = server.bodies()[:2]
    assert {name: said[name] for name in ("agent_id", "run_id")} == {"agent_id": "a1", "run_id": "r1"}
    assert (asked["agent_id"], asked["filter"]) == ("a1", {"tags": "goal"})
    assert server.requests[2].url.params["filter"] == '{"tags": "goal"}'


def test_an_answer_that_is_not_json_is_text() -> None:
    lines = {"Content-Type": "application/x-ndjson"}
    client, _ = scripted(
        (200, {"kind": "memory"}, lines), (200, {"kind": "memory"}, {"Content-Type": "application/json"})
    )
    assert client.request("GET", "/v1/users/kim/export") == '{"kind": "memory"}'
    assert client.request("GET", "/v1/stats") == {"kind": "memory"}


@pytest.mark.parametrize("failure", [(429, BUSY, {"Retry-After": "0"}), (503, BUSY), (500, None), REFUSED])
def test_a_write_is_sent_again_under_the_same_key(failure: Any) -> None:
    client, server = scripted(failure, failure, (202, ACCEPTED))
    assert client.write_turns(user_id="kim", session_id="s", turns=SAID)["trace_id"] == "trc_1"
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(keys) == 3
    assert len(set(keys)) == 1


def test_the_first_request_under_a_key_still_runs() -> None:
    client, _ = scripted((409, {"code": "idempotency_in_progress"}), (202, ACCEPTED))
    assert client.write_turns(user_id="kim", session_id="s", turns=SAID, idempotency_key="mine") == ACCEPTED


@pytest.mark.parametrize(("failure", "requests"), [(REFUSED, 1), ((503, BUSY), 1), ((429, BUSY), 2)])
def test_a_revision_is_sent_again_only_if_it_was_not_begun(failure: Any, requests: int) -> None:
    client, server = scripted(failure, (200, {"id": "mem_1"}))
    if requests == 1:
        with pytest.raises((ServerError, ConnectionFailed)):
            client.revise_memory("mem_1", {"importance": 1})
    else:
        client.revise_memory("mem_1", {"importance": 1}, version=3)
        assert server.requests[1].headers["If-Match"] == '"3"'
    assert len(server.requests) == requests


def test_attempts_end() -> None:
    client, server = scripted(*[(503, BUSY)] * 4)
    with pytest.raises(ServerError):
        client.read_memory("mem_1")
    assert len(server.requests) == AT_ONCE.attempts


def test_delays_are_those_that_the_server_asks_for() -> None:
    retries = Retries(first_delay=1.0, longest_delay=10.0)
    asked = RateLimited(status=429, problem=BUSY, retry_after=7.0)
    assert retries.delay(attempt=1, error=asked, may_repeat=False) == 7.0
    too_long = RateLimited(status=429, problem=BUSY, retry_after=11.0)
    assert retries.delay(attempt=1, error=too_long, may_repeat=True) is None
    own = retries.delay(attempt=3, error=ConnectionFailed(), may_repeat=True)
    assert own is not None
    assert 3.2 <= own <= 4.8


ERRORS = {401: AuthenticationFailed, 403: PermissionDenied, 404: NotFound, 409: Conflict, 422: InvalidRequest}


@pytest.mark.parametrize(("status", "kind"), ERRORS.items())
def test_problems_are_errors(status: int, kind: type[APIError]) -> None:
    problem = {"code": "the_code", "detail": "why", "errors": [{"pointer": "/user_id", "message": "is blank"}]}
    client, server = scripted((status, problem))
    with pytest.raises(kind) as raised:
        client.search("kim", "where?", limit=3, since="2026-01-01")
    error = raised.value
    assert (error.status, error.code, error.detail, error.errors) == (status, "the_code", "why", problem["errors"])
    assert isinstance(error, MemplatformError)
    assert server.bodies() == [{"user_id": "kim", "query": "where?", "limit": 3, "since": "2026-01-01"}]


def test_an_error_of_a_proxy_has_its_text() -> None:
    transport = httpx2.MockTransport(lambda _: httpx2.Response(404, text="<html>no such host"))
    with pytest.raises(NotFound, match="no such host"):
        Client("http://server", "mp_key", http_transport=transport).read_memory("mem_1")


def test_pages_are_followed() -> None:
    client, server = scripted(page([{"id": "a"}, {"id": "b"}], cursor="next=="), page([{"id": "c"}]))
    assert [each["id"] for each in client.each_memory(user_id="kim", tags=["x", "y"])] == ["a", "b", "c"]
    assert server.requests[1].url.params["cursor"] == "next=="
    assert server.requests[1].url.params.get_list("tags") == ["x", "y"]


def test_waiting_asks_until_the_trace_has_come_as_far() -> None:
    queued, done = {**ACCEPTED, "id": "trc_1"}, {"id": "trc_1", "status": "done", "index": "pending"}
    client, server = scripted((200, queued), (200, done), (200, done | {"index": "done"}))
    assert client.wait("trc_1", timeout=10)["index"] == "done"
    assert 1 <= int(server.requests[0].url.params["wait"]) <= 10
    client, server = scripted((200, done), (200, done), (200, done | {"index": "failed"}))
    assert client.wait("trc_1", milestone="ended")["status"] == "done"
    assert server.requests[0].url.params["milestone"] == "ended"
    assert client.wait("trc_1", timeout=0)["index"] == "pending", "what has ended is no failure"
    assert client.wait("trc_1")["index"] == "failed"
    client, _ = scripted((200, queued))
    with pytest.raises(WaitTimeout):
        client.wait("trc_1", timeout=0)


def test_identifiers_stay_within_their_part_of_the_path() -> None:
    client, server = scripted((204, None))
    assert client.retract_memory("../users/kim?x") is None
    assert server.requests[0].url.raw_path == b"/v1/memories/..%2Fusers%2Fkim%3Fx"


def test_the_asynchronous_client_does_the_same() -> None:
    answers: Any = [
        (429, BUSY),
        (202, ACCEPTED),
        (200, {"status": "done", "index": "done"}),
        page([{"id": "a"}], cursor="n"),
        page([]),
    ]
    server = ScriptedServer([complete(each) for each in answers])

    async def run() -> tuple[Any, list[str]]:
        transport = httpx2.MockTransport(server.answer)
        async with AsyncClient("http://server", "mp_key", retries=AT_ONCE, http_transport=transport) as client:
            accepted = await client.write_turns(user_id="kim", session_id="s", turns=SAID)
            trace = await client.wait(accepted["trace_id"])
            return trace["status"], [each["id"] async for each in client.each_memory(user_id="kim")]

    with ThreadPoolExecutor(1) as thread:  # browser tests of the same process keep a loop in its main thread
        told = thread.submit(asyncio.run, run()).result()
    assert told == ("done", ["a"])


def test_both_clients_have_the_same_methods() -> None:
    def public(kind: type) -> dict[str, list[str]]:
        methods = inspect.getmembers(kind, inspect.isfunction)
        return {name: list(inspect.signature(each).parameters) for name, each in methods if not name.startswith("_")}

    assert public(Client) == public(AsyncClient)
    assert len(public(Client)) > 15


def test_what_json_cannot_hold() -> None:
    client, server = scripted((200, {"results": []}))
    with pytest.raises(MemplatformError, match="not JSON"):
        client.store_memories(
            user_id="kim", memories=[{"type": "fact", "content": "x", "metadata": {"a": float("nan")}}]
        )
    client.search("kim", "half a character: \ud83d")  # the server refuses it with a pointer
    assert server.bodies()[0]["query"].endswith("\ud83d")


def test_a_key_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMPLATFORM_API_KEY", raising=False)
    with pytest.raises(MemplatformError, match="MEMPLATFORM_API_KEY"):
        Client()
