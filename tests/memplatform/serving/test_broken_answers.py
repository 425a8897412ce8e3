"""What breaks off a long answer is seen by the HTTP clients of a real server: the answer is incomplete."""

import asyncio
import fcntl
import http.client
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from granian.constants import Interfaces
from granian.log import LogLevels
from granian.server.embed import Server
from memplatform.serving.long_answers import BLOCK_BYTES, LongAnswer, send_long_answer

from tests.instance import free_port

BLOCKS = 40
STALL_SECONDS = 0.3
PATIENCE = 60


class Answers:
    """An application of three long answers, in a real server, in a thread of its own."""

    def __init__(self) -> None:
        self.port = free_port()
        self.ended = threading.Event()  # the answer that was asked for last, in whatever way
        self._loop = asyncio.new_event_loop()
        self._server = Server(
            self, address="127.0.0.1", port=self.port, interface=Interfaces.RSGI, log_level=LogLevels.critical
        )
        self._threads = ThreadPoolExecutor(1)
        self._thread = threading.Thread(target=lambda: self._loop.run_until_complete(self._server.serve()))

    async def __rsgi__(self, scope: Any, exchange: Any) -> None:
        headers = [("content-type", "text/csv")]
        answer = LongAnswer(200, headers, self._blocks(scope.path), self.ended.set)
        await send_long_answer(
            answer,
            exchange,
            threads=self._threads,
            stall_seconds=STALL_SECONDS if scope.path == "/stalls" else PATIENCE,
        )

    def _blocks(self, path: str) -> Iterator[bytes]:
        for number in range(BLOCKS):
            if number == BLOCKS - 1 and path == "/fails-at-last":
                raise RuntimeError("a defect")
            if number == 2 and path == "/fails":
                raise RuntimeError("a defect")
            yield bytes([number]) * BLOCK_BYTES

    def __enter__(self) -> "Answers":
        self._thread.start()
        for _ in range(600):
            with suppress(ConnectionRefusedError), socket.create_connection(("127.0.0.1", self.port)):
                return self
            time.sleep(0.1)
        raise AssertionError("the server does not start")

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._server.stop)
        self._thread.join(60)
        self._threads.shutdown()

    def asked(self, path: str) -> http.client.HTTPResponse:
        """Ask for an answer, and read none of it."""
        self.ended = threading.Event()
        asking = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        asking.connect()
        asking.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        asking.request("GET", path)
        return asking.getresponse()


@pytest.fixture(scope="module")
def answers() -> Iterator[Answers]:
    with Answers() as running:
        yield running


def test_a_whole_answer_is_complete(answers: Answers) -> None:
    assert answers.asked("/whole").read() == b"".join(bytes([number]) * BLOCK_BYTES for number in range(BLOCKS))


@pytest.mark.parametrize("path", ["/fails", "/fails-at-last"])
def test_an_error_leaves_an_answer_incomplete(answers: Answers, path: str) -> None:
    answer = answers.asked(path)
    assert answer.status == 200
    with pytest.raises(http.client.IncompleteRead):
        answer.read()
    with pytest.raises(httpx.RemoteProtocolError):
        httpx.get(f"http://127.0.0.1:{answers.port}{path}")


_IS_FREE = "import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'ab'), fcntl.LOCK_EX | fcntl.LOCK_NB)"


def test_a_broken_answer_leaves_the_locks_of_the_process_alone(answers: Answers, tmp_path: Path) -> None:
    """A process that closes any descriptor of a file, be it a copy, loses its locks on that file."""
    is_free = [sys.executable, "-c", _IS_FREE, str(tmp_path / "locked")]
    with (tmp_path / "locked").open("ab") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        with pytest.raises(http.client.IncompleteRead):
            answers.asked("/fails").read()
        assert subprocess.run(is_free, check=False, capture_output=True).returncode == 1
    assert subprocess.run(is_free, check=False).returncode == 0


def test_a_reader_that_stalls_gets_no_end(answers: Answers) -> None:
    before = pipes()
    answer = answers.asked("/stalls")
    assert answers.ended.wait(60)
    with pytest.raises(http.client.IncompleteRead):
        answer.read()
    deadline = time.monotonic() + 60
    while pipes() > before and time.monotonic() < deadline:  # the server's end, and ours
        time.sleep(0.05)
    assert pipes() <= before


def pipes() -> int:
    """Return how many ends of named pipes this process has open."""
    found = 0
    for opened in Path("/dev/fd").iterdir():
        with suppress(OSError):  # closed since
            found += "answer-" in str(opened.readlink())
    return found
