"""A fake model server on loopback that speaks the vendors' wire formats and extracts simple facts.

`python -m benchmarks.model_server --port 8399 --delay-ms 420` prints its address once it listens. `GET /stats` returns
counts of its requests, `POST /reset` resets them. Tests run it in a thread, with their own replies.
"""

import argparse
import asyncio
import json
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from benchmarks.model_wire import Asked, Caches, anthropic_body, asked_by, openai_body, tokens_of
from benchmarks.simple_model import answer_to

HOST = "127.0.0.1"
MOST_BYTES = 16 * 1024 * 1024
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True, slots=True)
class Reply:
    """The reaction of the server to one call: the text of an answer, an error, or a body that is not JSON."""

    text: str = ""
    status: int = 200
    stop: str = "end"  # "end", "truncated" or "refused"
    raw: bytes | None = None  # sent unchanged
    headers: dict[str, str] = field(default_factory=dict)
    delay_ms: float | None = None
    error: str = "injected"
    hang_up: bool = False  # close the connection without an answer


Answering = Callable[[Asked], Reply]


def simply(asked: Asked) -> Reply:
    """Answer with the simple model."""
    return Reply(text=answer_to(asked.turns))


@dataclass(slots=True)
class ModelServer:
    """The server's state; `answering` decides each reply."""

    answering: Answering = simply
    delay_ms: float = 0.0
    port: int = 0
    asked: deque[Asked] = field(default_factory=lambda: deque(maxlen=1_000))
    counts: Counter[str] = field(default_factory=Counter)
    caches: Caches = field(default_factory=Caches)
    now: int = 0

    @property
    def url(self) -> str:
        """Return the address without a path."""
        return f"http://{HOST}:{self.port}"

    def view(self) -> dict[str, Any]:
        """Return the counts."""
        return {**self.counts, "now": self.now}

    def reset(self) -> None:
        """Reset counts and caches."""
        self.asked.clear()
        self.counts.clear()
        self.caches.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until its client closes it."""
        try:
            with suppress(
                ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, asyncio.CancelledError
            ):
                while await self._serve_one(reader, writer):
                    pass
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        size = min(int(headers.get("content-length") or 0), MOST_BYTES)
        body = await reader.readexactly(size) if size else b""
        reply = await self._reply(method, path.partition("?")[0], headers, body)
        if reply.hang_up:
            return False
        content = reply.raw if reply.raw is not None else b""
        answer_headers = {"content-type": "application/json", "content-length": str(len(content)), **reply.headers}
        head_out = "".join(f"{name}: {value}\r\n" for name, value in answer_headers.items())
        status = f"HTTP/1.1 {reply.status} {_REASONS.get(reply.status, 'Status')}\r\n"
        writer.write(f"{status}{head_out}\r\n".encode("latin-1") + content)
        await writer.drain()
        return True

    async def _reply(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply:
        if path == "/stats":
            return Reply(raw=json.dumps(self.view()).encode())
        if path == "/reset":
            self.reset()
            return Reply(raw=b"{}")
        if method != "POST" or not path.endswith(("/messages", "/chat/completions")):
            return Reply(status=404, raw=b'{"error": {"type": "not_found_error", "message": "no such address"}}')
        came = asyncio.get_running_loop().time()
        asked = asked_by(path=path, headers=headers, body=json.loads(body))
        self.asked.append(asked)
        self.now += 1
        self.counts["most_at_once"] = max(self.counts["most_at_once"], self.now)
        try:
            return await self._answer(asked, came)
        finally:
            self.now -= 1

    async def _answer(self, asked: Asked, came: float) -> Reply:
        """Answer with a fixed latency, which includes the time to compute the answer."""
        reply = self.answering(asked)
        delay = self.delay_ms if reply.delay_ms is None else reply.delay_ms
        if delay:
            await asyncio.sleep(came + delay / 1_000 - asyncio.get_running_loop().time())
        if reply.raw is not None or reply.hang_up:
            return reply
        if reply.status != 200:
            error = {"type": "error", "error": {"type": "api_error", "message": reply.error}}
            return Reply(status=reply.status, raw=json.dumps(error).encode(), headers=reply.headers)
        usage = self.caches.usage_of(asked)
        self.counts.update(calls=1, input_tokens=usage.input, cache_read_tokens=usage.cache_read)
        self.counts.update(cache_write_tokens=usage.cache_write, output_tokens=tokens_of(reply.text))
        write = anthropic_body if asked.is_anthropic else openai_body
        body = write(asked, text=reply.text, stop=reply.stop, usage=usage)
        return Reply(raw=json.dumps(body).encode(), headers=reply.headers)


async def _listen(server: ModelServer, started: Callable[[], None], until: asyncio.Event) -> None:
    listening = await asyncio.start_server(server.serve, HOST, server.port, limit=MOST_BYTES)
    server.port = listening.sockets[0].getsockname()[1]
    started()
    try:
        await until.wait()
    finally:
        listening.close()


@contextmanager
def running(server: ModelServer) -> Iterator[ModelServer]:
    """Run a server in a thread of this process, on a free port, while the block runs."""
    loop, ready, until = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    thread = threading.Thread(target=_run, args=(loop, server, ready.set, until), daemon=True)
    thread.start()
    if not ready.wait(timeout=60):
        raise TimeoutError("the model server did not start")
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(until.set)
        thread.join(timeout=10)


def _run(
    loop: asyncio.AbstractEventLoop, server: ModelServer, started: Callable[[], None], until: asyncio.Event
) -> None:
    loop.run_until_complete(_listen(server, started, until))
    for task in asyncio.all_tasks(loop):
        task.cancel()
    loop.run_until_complete(asyncio.sleep(0))
    loop.close()


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--delay-ms", type=float, default=420.0)
    given = parser.parse_args()
    server = ModelServer(port=given.port, delay_ms=given.delay_ms)
    with suppress(KeyboardInterrupt):
        asyncio.run(_listen(server, lambda: print(server.url, flush=True), asyncio.Event()))


if __name__ == "__main__":
    main()
