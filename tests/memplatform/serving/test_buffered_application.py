"""A WSGI application behind the buffering reader sees requests and answers as behind any other server."""

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import Any
from uuid import uuid4

import pytest

from apps.actions.traces.awaited_trace import AwaitedTrace
from apps.api.continuations import HAS_WAITED, TraceWait
from memplatform.mcp.lazy import answer_mcp
from memplatform.serving.buffered_application import BufferedApplication
from memplatform.serving.event_streams import EventStreams, StreamLimits
from memplatform.serving.refusals import no_stream, refuse
from memplatform.serving.request_body import BodyLimits
from memplatform.serving.trace_waits import TraceWaits
from memplatform.serving.wsgi_environ import wsgi_environ
from tests.event_loop import run_async


class FakeHeaders(dict[str, list[str]]):
    def get(self, key: str, default: Any = None) -> Any:
        return self[key][0] if key in self else default

    def items(self) -> Any:
        return [(name, value) for name, values in super().items() for value in values]


class FakeScope:
    http_version = "1.1"
    server = "127.0.0.1:8000"
    client = "[::1]:50000"
    scheme = "http"
    method = "POST"
    query_string = "q=é"
    authority = None

    def __init__(self, path: str = "/v1/turns", **headers: list[str]) -> None:
        self.path = path
        self.headers = FakeHeaders({name.replace("__", "-"): values for name, values in headers.items()})


class FakeExchange:
    def __init__(self, body: bytes = b"") -> None:
        self.body = body
        self.answer: tuple[Any, ...] = ()

    async def __call__(self) -> bytes:
        return self.body

    def response_bytes(self, *answer: Any) -> None:
        self.answer = answer


class Parts(list[bytes]):
    """A response as Django returns it."""

    continuation: TraceWait | None = None

    def __init__(self, *parts: bytes, streaming: bool) -> None:
        super().__init__(parts)
        self.streaming = streaming
        self.closed = False

    def close(self) -> None:
        self.closed = True


def run(application: Callable[..., Any], scope: FakeScope, exchange: FakeExchange, **options: Any) -> None:
    waits = TraceWaits(lambda asked: asked, at_most=1)
    limits = BodyLimits(largest=1_000)
    served = BufferedApplication(
        application,
        threads=1,
        at_once=1,
        limits=limits,
        refuse=refuse,
        waits=waits,
        streams=EventStreams(lambda _: {}, limits=StreamLimits(at_most=0, of_project=0, lifetime=0.0)),
        no_stream=no_stream,
        answer_mcp=answer_mcp,
        **options,
    )
    run_async(served.__rsgi__(scope, exchange))  # type: ignore[arg-type]
    served.__rsgi_del__(asyncio.new_event_loop())


def test_the_environment_holds_the_request() -> None:
    scope = FakeScope(
        "/v1/é", content__type=["application/json"], cookie=["a=1", "b=2"], x__one=["1", "2"], x_one=["3"]
    )
    environ = wsgi_environ(scope, b"body")  # type: ignore[arg-type]
    assert environ["PATH_INFO"].encode("latin-1").decode() == "/v1/é"
    assert environ["QUERY_STRING"].encode("latin-1").decode() == "q=é"
    assert (environ["SERVER_NAME"], environ["SERVER_PORT"], environ["REMOTE_ADDR"]) == ("127.0.0.1", "8000", "::1")
    assert (environ["CONTENT_TYPE"], environ["HTTP_COOKIE"], environ["HTTP_X_ONE"]) == (
        "application/json",
        "a=1; b=2",
        "1,2",
    )
    assert environ["wsgi.input"].read() == b"body"


def test_a_monitor_may_use_any_address_of_the_process() -> None:
    hosts = []

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> Parts:
        hosts.append(environ["HTTP_HOST"])
        start("200 OK", [])
        return Parts(b"", streaming=False)

    for path in ("/readyz", "/v1/turns"):
        scope = FakeScope(path, host=["10.0.0.7:8000"])
        run(application, scope, FakeExchange(), monitoring_host="memory.example.com")
    assert hosts == ["memory.example.com", "10.0.0.7:8000"]


@pytest.mark.parametrize("streaming", [False, True])
def test_the_answer_is_sent_and_closed(streaming: bool) -> None:
    parts = Parts(b"one", b"two", streaming=streaming)

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        start("201 Created", [("x", environ["REQUEST_METHOD"])])
        return parts

    exchange = FakeExchange()
    run(application, FakeScope(), exchange)
    assert exchange.answer == (201, [("x", "POST")], b"onetwo")
    assert parts.closed


@pytest.mark.parametrize(("path", "kind"), [("/v1/turns", "application/problem+json"), ("/console/", "text/plain")])
def test_a_request_that_is_not_read_ends_its_connection(path: str, kind: str) -> None:
    exchange = FakeExchange()
    run(lambda *_: pytest.fail("must not be called"), FakeScope(path, content__length=["1001"]), exchange)
    status, headers, _ = exchange.answer
    assert status == 413
    assert dict(headers)["content-type"].startswith(kind)
    assert dict(headers)["connection"] == "close"


def test_liveness_is_told_while_all_threads_are_busy() -> None:
    """The application is never asked: its threads may wait for a database that hangs."""

    def busy(*_: Any) -> Iterable[bytes]:
        raise AssertionError("asked")

    exchange, scope = FakeExchange(), FakeScope("/healthz")
    scope.method = "GET"
    run(busy, scope, exchange)
    assert exchange.answer == (200, [("content-type", "application/json")], b'{"status":"ok"}')


def test_readiness_has_a_thread_of_its_own() -> None:
    names: list[str] = []

    def answer(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        names.append(threading.current_thread().name)
        start("200 OK", [])
        return Parts(b"", streaming=False)

    for path in ("/readyz", "/v1/turns"):
        run(answer, FakeScope(path), FakeExchange())
    assert [name.split("_")[0] for name in names] == ["monitoring", "request"]


def test_a_request_that_waits_for_a_trace_is_run_again_after_its_end() -> None:
    asked = []

    def application(environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        asked.append(environ.get(HAS_WAITED))
        start("200 OK", [])
        parts = Parts(b"queued" if len(asked) == 1 else b"done", streaming=False)
        if len(asked) == 1:
            parts.continuation = TraceWait(awaited=AwaitedTrace(uuid4()), seconds=30)
        return parts

    exchange = FakeExchange()
    run(application, FakeScope(), exchange)
    assert exchange.answer == (200, [], b"done")
    assert asked == [None, True]
