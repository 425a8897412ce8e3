"""Long answers are made as fast as their readers take them, and no faster."""

import errno
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections
from structlog.testing import capture_logs

from memplatform.serving.long_answers import BLOCK_BYTES, LongAnswer, in_blocks, send_long_answer
from memplatform.serving.threaded_application import ThreadedApplication
from tests.event_loop import run_async

BLOCKS = 40


class FileServer:
    """Sends a file as the web server does: opened by its path, read only as the caller takes it."""

    def __init__(self, read: Callable[[int], None]) -> None:
        self._read = read
        self.paths: list[str] = []
        self.thread = threading.Thread()

    def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
        self.paths.append(file)
        self.thread = threading.Thread(target=self._open, args=(file,))
        self.thread.start()

    def _open(self, file: str) -> None:
        opened = os.open(file, os.O_RDONLY)
        try:
            self._read(opened)
        finally:
            os.close(opened)


class Made:
    """The blocks of an answer, counted as they are made."""

    def __init__(self, *, fails_after: int = BLOCKS) -> None:
        self.count = 0
        self.is_closed = False
        self._fails_after = fails_after

    def blocks(self) -> Iterator[bytes]:
        for number in range(BLOCKS):
            if number == self._fails_after:
                raise RuntimeError("a defect")
            self.count += 1
            yield bytes([number]) * BLOCK_BYTES

    def close(self) -> None:
        self.is_closed = True


def send(made: Made, read: Callable[[int], None], **options: float) -> FileServer:
    server = FileServer(read)
    answer = LongAnswer(200, [], made.blocks(), made.close)
    with ThreadPoolExecutor(1) as threads:
        run_async(send_long_answer(answer, server, threads=threads, **options))  # type: ignore[arg-type]
    server.thread.join(60)
    assert not any(Path(each).exists() for each in server.paths)
    assert made.is_closed
    return server


def test_a_reader_gets_all_of_it() -> None:
    got = bytearray()

    def read(opened: int) -> None:
        while data := os.read(opened, 100_000):
            got.extend(data)

    made = Made()
    send(made, read)
    assert got == b"".join(Made().blocks())


def test_what_is_not_read_is_not_made() -> None:
    made = Made()
    ended = threading.Event()

    def read(opened: int) -> None:
        assert os.read(opened, 10) == b"\x00" * 10
        assert ended.wait(60)

    try:
        send_in_thread = threading.Thread(target=lambda: send(made, read, stall_seconds=0.2))
        with capture_logs() as logs:
            send_in_thread.start()
            while not made.is_closed and send_in_thread.is_alive():
                send_in_thread.join(0.01)
    finally:
        ended.set()
    send_in_thread.join(60)
    assert made.count == 1
    assert [each["event"] for each in logs] == ["long answer broken off: its reader takes nothing"]


def test_an_error_ends_it_and_is_logged() -> None:
    failures: list[int | None] = []

    def read(opened: int) -> None:
        try:
            while os.read(opened, 100_000):
                pass
        except OSError as error:
            failures.append(error.errno)

    made = Made(fails_after=3)
    with capture_logs() as logs, pytest.raises(RuntimeError):
        send(made, read)
    assert (made.count, made.is_closed) == (3, True)
    assert [(each["event"], each["log_level"]) for each in logs] == [("long answer broken off", "error")]
    assert failures == [errno.EAGAIN]  # instead of an end, which would look like that of the answer


@pytest.mark.django_db(transaction=True)
def test_the_thread_of_the_view_keeps_no_connection() -> None:
    used: list[Any] = []
    held: list[bool] = []

    class Streamed:
        streaming = True

        def __iter__(self) -> Iterator[bytes]:
            for _ in range(3):
                used.append(connections["default"])
                connection.ensure_connection()
                yield b"x" * BLOCK_BYTES

    class LookingServer(FileServer):
        def response_file(self, status: int, headers: list[tuple[str, str]], file: str) -> None:
            held.extend(each.connection is not None for each in used)
            super().response_file(status, headers, file)

    server = LookingServer(lambda opened: None)
    application = ThreadedApplication(lambda environ, start: Streamed(), threads=1, at_once=1)
    run_async(application.answer(server, {}))  # type: ignore[arg-type]
    application.stop()
    server.thread.join(60)
    assert held == [False, False]


def test_a_reader_that_goes_ends_it() -> None:
    made = Made()
    send(made, lambda opened: None)
    assert made.count <= 2


def test_parts_are_joined_to_blocks() -> None:
    parts = [b"x" * 1_000] * 600
    blocks = list(in_blocks(parts))
    assert b"".join(blocks) == b"".join(parts)
    assert [len(each) >= BLOCK_BYTES for each in blocks] == [True, True, False]
    assert list(in_blocks([])) == []
