"""The client for asynchronous code: the methods of Client, awaited."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, TypeVar

import httpx2

from memplatform_client import calls, import_calls, models
from memplatform_client.calls import LONGEST_WAIT, Call, Milestone
from memplatform_client.client import EARLY_SECONDS, cursor_of
from memplatform_client.errors import APIError, ConnectionFailed, RateLimited, WaitTimeout
from memplatform_client.event_stream import (
    NOW,
    POLL_SECONDS,
    RECONNECT_SECONDS,
    SILENCE_SECONDS,
    EventLines,
    stream_call,
)
from memplatform_client.retries import Retries
from memplatform_client.transport import TIMEOUT_SECONDS, answer_of, connection_failed, request_of, settings_of
from memplatform_client.waiting import ended, has_come_to

P = ParamSpec("P")
T = TypeVar("T")


def _sends(build: Callable[P, Call[T]]) -> "Callable[Concatenate[AsyncClient, P], Awaitable[T]]":
    """Return the method that sends what `build` returns."""

    @wraps(build)
    async def send(client: "AsyncClient", /, *args: P.args, **options: P.kwargs) -> T:
        return await client.send(build(*args, **options))

    return send


class AsyncClient:
    """Calls a server with an API key; a context manager that closes its connections.

    Requests are sent again after 429, 5xx and failed connections, as `retries` says; POSTs under an Idempotency-Key.
    Raises the errors of memplatform_client.errors. `http_transport` is one of httpx2, for proxies and tests.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        timeout: float = TIMEOUT_SECONDS,
        retries: Retries | None = None,
        http_transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        settings = settings_of(base_url=base_url, api_key=api_key, timeout=timeout)
        self._http = httpx2.AsyncClient(**settings, transport=http_transport)
        self._retries = retries or Retries()

    write_turns = _sends(calls.write_turns)
    store_memories = _sends(calls.store_memories)
    read_trace = _sends(calls.read_trace)
    search = _sends(calls.search)
    build_context = _sends(calls.build_context)
    list_memories = _sends(calls.list_memories)
    read_memory = _sends(calls.read_memory)
    read_history = _sends(calls.read_history)
    revise_memory = _sends(calls.revise_memory)
    retract_memory = _sends(calls.retract_memory)
    list_entities = _sends(calls.list_entities)
    list_traces = _sends(calls.list_traces)
    list_events = _sends(calls.list_events)
    put_item = _sends(calls.put_item)
    read_item = _sends(calls.read_item)
    delete_item = _sends(calls.delete_item)
    search_items = _sends(calls.search_items)
    list_item_namespaces = _sends(calls.list_item_namespaces)
    run_item_operations = _sends(calls.run_item_operations)
    read_current_key = _sends(calls.read_current_key)
    erase_user = _sends(calls.erase_user)
    request_import = _sends(import_calls.request_import)
    put_import_file = _sends(import_calls.put_import_file)
    start_import = _sends(import_calls.start_import)
    cancel_import = _sends(import_calls.cancel_import)
    delete_import_file = _sends(import_calls.delete_import_file)
    read_import = _sends(import_calls.read_import)
    list_imports = _sends(import_calls.list_imports)
    request = _sends(calls.request)

    async def wait(
        self, trace_id: str, *, timeout: float = 120.0, milestone: Milestone = "indexed"
    ) -> models.TraceResponse:
        """Return a trace when search finds its memories, by their words and by their meaning.

        With `milestone="ended"` by their words, which is sooner. After `timeout` seconds a trace that has ended is
        returned as it is. Raises WaitTimeout if it has not.
        """
        deadline = time.monotonic() + timeout
        while True:
            asked = time.monotonic()
            trace = await self.read_trace(
                trace_id, wait=max(1, min(LONGEST_WAIT, int(deadline - asked))), milestone=milestone
            )
            if has_come_to(trace, milestone):
                return trace
            if time.monotonic() >= deadline:
                return ended(trace, after=timeout)
            await asyncio.sleep(max(0.0, asked + EARLY_SECONDS - time.monotonic()))

    async def upload_import(
        self,
        file: str | Path,
        *,
        format: models.ImportFormat | None = None,
        user_id: str | None = None,
        users: Mapping[str, str] | None = None,
        timeout: float = 600.0,
    ) -> models.ImportResponse:
        """Send a file and return its import when it was checked; `start_import` imports it. Raises WaitTimeout."""
        path = Path(file)
        made = await self.request_import(file_name=path.name, format=format, user_id=user_id, users=users)
        await self.put_import_file(made["id"], await asyncio.to_thread(path.read_bytes))
        return await self.wait_import(made["id"], timeout=timeout)

    async def wait_import(self, import_id: str, *, timeout: float = 600.0) -> models.ImportResponse:
        """Return an import when nothing is under way: checked, done, cancelled or failed. Raises WaitTimeout."""
        deadline = time.monotonic() + timeout
        while True:
            found = await self.read_import(import_id)
            if found["status"] not in import_calls.WAITING:
                return found
            if time.monotonic() >= deadline:
                raise WaitTimeout(f"import {import_id} is still {found['status']} after {timeout:g} seconds")
            await asyncio.sleep(import_calls.POLL_SECONDS)

    def each_memory(self, *, user_id: str | None = None, **filters: Any) -> AsyncIterator[models.MemoryResponse]:
        """Yield memories, newest first, page by page; the filters are those of `list_memories`."""
        return self._each(calls.list_memories, user_id=user_id, **filters)

    def each_entity(self, *, user_id: str | None = None, **filters: Any) -> AsyncIterator[models.EntityResponse]:
        """Yield entities, newest first, page by page."""
        return self._each(calls.list_entities, user_id=user_id, **filters)

    def each_trace(self, *, user_id: str | None = None, **filters: Any) -> AsyncIterator[models.TraceSummary]:
        """Yield traces, newest first, page by page."""
        return self._each(calls.list_traces, user_id=user_id, **filters)

    async def _each(self, build: Callable[..., Call[Any]], **filters: Any) -> AsyncIterator[Any]:
        cursor = None
        while True:
            page = await self.send(build(cursor=cursor, **filters))
            for each in page["results"]:
                yield each
            if not page["next"]:
                return
            cursor = cursor_of(page["next"])

    async def events(
        self, *, after: int | None = None, types: Sequence[str] = (), includes_content: bool = False
    ) -> AsyncIterator[models.EventResponse]:
        """Yield events as they happen, without end: see Client.events."""
        last = after if after is not None else (await self.send(calls.list_events(after=NOW, limit=1)))["last_number"]
        attempt = 0
        while True:
            attempt += 1
            try:
                call = stream_call(after=last, types=types, includes_content=includes_content)
                async for event in self._followed(call):
                    attempt, last = 0, event["number"]
                    yield event
                attempt, delay = 0, RECONNECT_SECONDS
            except RateLimited:
                page = await self.send(calls.list_events(after=last, types=types, includes_content=includes_content))
                for each in page["results"]:
                    yield each
                attempt, last, delay = 0, page["next_after"], POLL_SECONDS
            except (APIError, ConnectionFailed) as error:
                again = self._retries.delay(attempt=attempt, error=error, may_repeat=True)
                if again is None:
                    raise
                delay = again
            await asyncio.sleep(delay)

    async def _followed(self, call: Call[Any]) -> AsyncIterator[models.EventResponse]:
        """Yield the events of one connection."""
        lines = EventLines()
        try:
            async with self._http.stream(**request_of(call), timeout=SILENCE_SECONDS) as response:
                if response.status_code >= 400:
                    await response.aread()
                    answer_of(response, call)
                async for line in response.aiter_lines():
                    if (event := lines.add(line)) is not None:
                        yield event
        except httpx2.TransportError as error:
            raise connection_failed(error, base_url=self._http.base_url) from error

    async def send(self, call: Call[T]) -> T:
        """Send a call, again if it fails for a while, and return its answer."""
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._send_once(call)
            except (APIError, ConnectionFailed) as error:
                delay = self._retries.delay(attempt=attempt, error=error, may_repeat=call.may_repeat)
                if delay is None:
                    raise
            await asyncio.sleep(delay)

    async def _send_once(self, call: Call[T]) -> T:
        try:
            response = await self._http.request(**request_of(call))
        except httpx2.TransportError as error:
            raise connection_failed(error, base_url=self._http.base_url) from error
        return answer_of(response, call)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
