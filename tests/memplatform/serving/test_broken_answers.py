"""What breaks off a long answer is seen by the HTTP clients of a real server: the answer is incomplete."""

import asyncio
import http.client
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.core.handlers.asgi import ASGIHandler
from django.http import HttpRequest, StreamingHttpResponse
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.embed import Server

from memplatform import middleware, request_slots
from memplatform.middleware import BLOCK_BYTES, streamed_in_blocks
from memplatform.request_slots import RequestSlots
from tests.instance import free_port

BLOCKS = 60
STALL_SECONDS = 1.0


class Answers(ASGIHandler):
    """Django with one view and one middleware."""

    made = 0

    def load_middleware(self, is_async: bool = False) -> None:
        self._middleware_chain = self.adapt_method_mode(True, streamed_in_blocks(self.answer), False)  # type: ignore[attr-defined]

    def answer(self, request: HttpRequest) -> StreamingHttpResponse:
        return StreamingHttpResponse(self.blocks(request.path))

    def blocks(self, path: str) -> Iterator[bytes]:
        self.made = 0
        for number in range(BLOCKS):
            if number == BLOCKS - 1 and path == "/fails-at-last":
                raise RuntimeError("a defect")
            self.made += 1
            yield bytes([number]) * BLOCK_BYTES


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Answers, int]]:
    monkeypatch.setattr(request_slots, "STALL_SECONDS", STALL_SECONDS)
    monkeypatch.setattr(middleware, "return_connections", lambda: None)
    application, port, loop = Answers(), free_port(), asyncio.new_event_loop()
    slots = RequestSlots(application, count=1, monitoring_host="localhost")
    server = Server(slots, address="127.0.0.1", port=port, interface=Interfaces.ASGINL, log_level=LogLevels.critical)
    thread = threading.Thread(target=lambda: loop.run_until_complete(server.serve()))
    thread.start()
    for _ in range(600):
        with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
            break
        time.sleep(0.1)
    yield application, port
    loop.call_soon_threadsafe(server.stop)
    thread.join(60)


def asked(port: int, path: str) -> http.client.HTTPResponse:
    """Ask for an answer, and read none of it."""
    asking: Any = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    asking.connect()
    asking.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
    asking.request("GET", path)
    answer: http.client.HTTPResponse = asking.getresponse()
    return answer


def test_an_answer_is_whole_or_seen_to_be_incomplete(answers: tuple[Answers, int]) -> None:
    _, port = answers
    assert asked(port, "/").read() == b"".join(bytes([number]) * BLOCK_BYTES for number in range(BLOCKS))
    failing = asked(port, "/fails-at-last")
    assert failing.status == 200
    with pytest.raises(http.client.IncompleteRead):
        failing.read()


def test_what_is_not_read_is_not_made_and_a_reader_that_stalls_gets_no_end(answers: tuple[Answers, int]) -> None:
    application, port = answers
    stalled = asked(port, "/")
    time.sleep(STALL_SECONDS * 3)
    assert application.made < BLOCKS
    with pytest.raises(http.client.IncompleteRead):
        stalled.read()
