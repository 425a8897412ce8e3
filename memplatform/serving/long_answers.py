"""Send long answers at the pace of their readers, so that a slow one costs the memory of a few blocks.

The web server takes parts of an answer without ever waiting: what a caller has not read yet it queues in memory
(granian 2.8). It reads a file only as fast as the caller takes it. So a long answer is a file for the server: a named
pipe, which the event loop fills. No thread and no database connection is held while a reader takes its time, and a
reader that goes closes the pipe.

The status is sent before it is known whether all blocks can be made. The server takes the end of a pipe for the end of
the answer, and a failure to read it for a reason to break off the connection, so what breaks off is made to fail: its
reader gets an answer that its HTTP client knows to be incomplete.
"""

import asyncio
import errno
import os
import select
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
from django.db import close_old_connections

from memplatform.serving.protocol import Exchange

log = structlog.get_logger(__name__)

BLOCK_BYTES = 256 * 1024
OPEN_SECONDS = 10.0  # in which the server has to open the pipe
STALL_SECONDS = 60.0  # a reader that takes nothing for so long has gone
_LOOK_SECONDS = 0.002
_LEFT_SECONDS = 0.1


@dataclass(frozen=True, slots=True)
class LongAnswer:
    """An answer of several blocks; `close` has to be called when it is sent, or is not."""

    status: int
    headers: list[tuple[str, str]]
    blocks: Iterator[bytes]
    close: Callable[[], None]


def in_blocks(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the parts joined to blocks of BLOCK_BYTES or a little more; the last one may be shorter."""
    gathered, size = [], 0
    for part in parts:
        gathered.append(part)
        size += len(part)
        if size >= BLOCK_BYTES:
            yield b"".join(gathered)
            gathered, size = [], 0
    if gathered:
        yield b"".join(gathered)


async def send_long_answer(
    answer: LongAnswer, exchange: Exchange, *, threads: Executor, stall_seconds: float = STALL_SECONDS
) -> None:
    """Send an answer; each block is made in one of the threads when the reader has taken the one before.

    A reader that has gone, or that takes nothing for `stall_seconds`, breaks it off, and so does an error, which is
    raised.
    """
    loop = asyncio.get_running_loop()
    try:
        async with _pipe(answer, exchange) as pipe:
            while block := await loop.run_in_executor(threads, _next_block, answer.blocks):
                await _write(pipe, block, stall_seconds)
    except BrokenPipeError:
        pass
    except TimeoutError:
        log.warning("long answer broken off: its reader takes nothing")
    except Exception:
        log.exception("long answer broken off")
        raise
    finally:
        await loop.run_in_executor(threads, answer.close)


def _next_block(blocks: Iterator[bytes]) -> bytes:
    """Return the next block, b"" at the end; other threads make the next ones, so the connection goes back."""
    try:
        return next(blocks, b"")
    finally:
        close_old_connections()


@asynccontextmanager
async def _pipe(answer: LongAnswer, exchange: Exchange) -> AsyncIterator[int]:
    """Let the server send what is written to a pipe. Raises TimeoutError if it does not open it."""
    with tempfile.TemporaryDirectory(prefix="answer-") as folder:
        path = Path(folder) / "pipe"
        os.mkfifo(path, 0o600)
        exchange.response_file(answer.status, answer.headers, str(path))
        async with asyncio.timeout(OPEN_SECONDS):
            while (pipe := _opened(path)) is None:
                await asyncio.sleep(_LOOK_SECONDS)
    try:
        yield pipe
    except BrokenPipeError:  # nobody reads any more
        os.close(pipe)
        raise
    except BaseException:
        _fail_reading(pipe)
        _close_when_left(pipe)
        raise
    os.close(pipe)


def _fail_reading(pipe: int) -> None:
    """Let the server's next attempt to read an empty pipe fail, instead of waiting for more.

    Whether reading waits is a property of the opened file, which copies of its descriptor share. A copy can be looked
    at without the risk that the server closes it in the meantime, and another file gets its number. Only descriptors
    of the pipe are copied: to close a copy of another file's would drop the locks that this process holds on that file.
    """
    wanted = os.fstat(pipe)
    for opened in list(Path("/dev/fd").iterdir()):
        with suppress(OSError):  # closed since the list was made
            if not os.path.samestat(opened.stat(), wanted):
                continue
            copy = os.dup(int(opened.name))
            try:
                if os.path.samestat(os.fstat(copy), wanted):
                    os.set_blocking(copy, False)
            finally:
                os.close(copy)
    with suppress(OSError):  # the pipe is full, or nobody reads it
        os.write(pipe, b"\n")  # wakes a server that waits already


def _close_when_left(pipe: int, *, after: float = _LEFT_SECONDS) -> None:
    """Close a pipe once nobody reads it any more: while it is open, its end does not look like that of an answer.

    Looks after `after` seconds, and each time after twice as long, up to a minute.
    """
    readers = select.poll()
    readers.register(pipe, 0)
    if readers.poll(0):
        os.close(pipe)
    else:
        look = partial(_close_when_left, pipe, after=min(2 * after, STALL_SECONDS))
        asyncio.get_running_loop().call_later(after, look)


def _opened(path: Path) -> int | None:
    """Return the descriptor to write to, None until there is a reader."""
    try:
        return os.open(path, os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno == errno.ENXIO:
            return None
        raise


async def _write(pipe: int, block: bytes, stall_seconds: float) -> None:
    """Write a block when the reader has room for it. Raises BrokenPipeError, TimeoutError."""
    left = memoryview(block)
    while left:
        try:
            left = left[os.write(pipe, left) :]
        except BlockingIOError:
            async with asyncio.timeout(stall_seconds):
                await _writable(pipe)


async def _writable(pipe: int) -> None:
    loop = asyncio.get_running_loop()
    is_writable = asyncio.Event()
    loop.add_writer(pipe, is_writable.set)
    try:
        await is_writable.wait()
    finally:
        loop.remove_writer(pipe)
