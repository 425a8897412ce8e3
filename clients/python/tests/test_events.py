"""Following events: each is yielded, also over lost connections, and while the server has no stream to spare."""

from itertools import islice, product
from typing import Any

import httpx2
import pytest

from memplatform_client import AsyncClient, Client, Conflict, async_client, client
from memplatform_client.event_stream import NOW, EventLines
from scripted import AT_ONCE
from tests.event_loop import run_async

HEARTBEAT = b": still here\n\n"
LOST = httpx2.ReadError("lost")


def frame(number: int) -> bytes:
    return f'id: {number}\nevent: trace.finished\ndata: {{"number": {number}, "data": {{}}}}\n\n'.encode()


class EventServer:
    """Answers requests in order: bytes of a stream, a problem, a page, or a lost connection."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, httpx2.TransportError):
            raise answer
        if isinstance(answer, bytes):
            return httpx2.Response(200, content=answer, headers={"content-type": "text/event-stream"})
        status, body = answer
        return httpx2.Response(status, json=body)

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        return self(request)

    def positions(self) -> list[tuple[str, str]]:
        return [(request.url.path.rsplit("/", 1)[1], request.url.params["after"]) for request in self.requests]


@pytest.fixture(params=["sync", "async"])
def take(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that takes the numbers of the first events from a server, with one of the clients."""
    for module, name in product((client, async_client), ("POLL_SECONDS", "RECONNECT_SECONDS")):
        monkeypatch.setattr(module, name, 0.0)

    def of_sync(server: EventServer, count: int, **options: Any) -> list[int]:
        made = Client("http://server", "mp_key", retries=AT_ONCE, http_transport=httpx2.MockTransport(server))
        return [each["number"] for each in islice(made.events(**options), count)]

    def of_async(server: EventServer, count: int, **options: Any) -> list[int]:
        async def taken() -> list[int]:
            transport = httpx2.MockTransport(server.answer)
            found: list[int] = []
            async with AsyncClient("http://server", "mp_key", retries=AT_ONCE, http_transport=transport) as made:
                async for each in made.events(**options):
                    found.append(each["number"])
                    if len(found) == count:
                        break
            return found

        return run_async(taken())

    return of_sync if request.param == "sync" else of_async


def test_events_are_followed_over_lost_connections(take: Any) -> None:
    server = EventServer(HEARTBEAT + frame(4) + HEARTBEAT + frame(5), LOST, (503, {}), frame(6))

    assert take(server, 3, after=3) == [4, 5, 6]
    assert server.positions() == [("stream", "3"), ("stream", "5"), ("stream", "5"), ("stream", "5")]


def test_without_a_number_events_begin_now(take: Any) -> None:
    server = EventServer((200, {"results": [], "last_number": 7, "next_after": NOW}), frame(8))

    assert take(server, 1, types=["trace.finished"]) == [8]
    assert server.positions() == [("events", str(NOW)), ("stream", "7")]
    assert server.requests[1].url.params["types"] == "trace.finished"


def test_events_are_read_while_there_is_no_stream_to_spare(take: Any) -> None:
    full = (429, {"code": "rate_limited", "detail": "too many"})
    server = EventServer(full, (200, {"results": [{"number": 1}], "next_after": 2, "last_number": 2}), frame(3))

    assert take(server, 2, after=0) == [1, 3]
    assert server.positions() == [("stream", "0"), ("events", "0"), ("stream", "2")]


def test_a_project_without_events_is_an_error(take: Any) -> None:
    server = EventServer((409, {"code": "conflict", "detail": "not recorded"}))
    with pytest.raises(Conflict, match="not recorded"):
        take(server, 1, after=0)


def test_data_may_have_several_lines() -> None:
    lines = EventLines()
    told = [lines.add(line) for line in ("data: {", 'data:"number": 1}', "")]

    assert told == [None, None, {"number": 1}]
