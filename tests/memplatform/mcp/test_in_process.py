"""A request within another one: what it takes over from the outer one, and what it doesn't."""

from collections.abc import Callable
from typing import Any

from apps.api.continuations import IS_PART
from memplatform.mcp.in_process import InProcessTransport
from memplatform_client import AsyncClient
from tests.event_loop import run_async

OUTER = {
    "REQUEST_METHOD": "POST",
    "PATH_INFO": "/mcp",
    "REMOTE_ADDR": "10.1.2.3",
    "CONTENT_TYPE": "application/json",
    "CONTENT_LENGTH": "999",
    "HTTP_HOST": "memory.example.com",
    "HTTP_X_FORWARDED_PROTO": "https",
    "HTTP_AUTHORIZATION": "Bearer of the outer request",
    "HTTP_COOKIE": "sessionid=1",
    "HTTP_IDEMPOTENCY_KEY": "of the outer request",
    "wsgi.url_scheme": "http",
}


def environ_of(ask: Callable[[AsyncClient], Any]) -> dict[str, Any]:
    """Return the environment of the request that a client makes within OUTER."""
    seen: dict[str, Any] = {}

    async def answer(new_environ: Callable[[], dict[str, Any]], exchange: Any) -> None:
        seen.update(new_environ())
        assert new_environ()["wsgi.input"] is not seen["wsgi.input"]  # a request that is run again is read again
        exchange.response_bytes(200, [("content-type", "application/json")], b"{}")

    async def run() -> None:
        async with AsyncClient(
            "http://in-process", "mp_key", http_transport=InProcessTransport(answer, OUTER)
        ) as client:
            await ask(client)

    run_async(run())
    return seen


def test_a_write() -> None:
    seen = environ_of(lambda client: client.store_memories(user_id="é", memories=[]))
    assert (seen["REQUEST_METHOD"], seen["PATH_INFO"], seen["QUERY_STRING"]) == ("POST", "/v1/memories", "")
    body = seen["wsgi.input"].read()
    assert (int(seen["CONTENT_LENGTH"]), seen["CONTENT_TYPE"]) == (len(body), "application/json")
    assert (seen["HTTP_AUTHORIZATION"], seen[IS_PART]) == ("Bearer mp_key", True)
    assert seen["HTTP_IDEMPOTENCY_KEY"] != OUTER["HTTP_IDEMPOTENCY_KEY"]
    assert (seen["HTTP_HOST"], seen["HTTP_X_FORWARDED_PROTO"]) == ("memory.example.com", "https")
    assert seen["REMOTE_ADDR"] == "10.1.2.3"
    assert "HTTP_COOKIE" not in seen


def test_a_read() -> None:
    seen = environ_of(lambda client: client.request("GET", "/v1/users/kim%2Fé/export", query={"q": "a b"}))
    assert seen["PATH_INFO"].encode("latin-1").decode() == "/v1/users/kim/é/export"
    assert (seen["QUERY_STRING"], seen["CONTENT_LENGTH"], seen["wsgi.input"].read()) == ("q=a+b", "0", b"")
    assert "HTTP_IDEMPOTENCY_KEY" not in seen
