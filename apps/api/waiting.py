"""Waiting on the event loop: one query asks for all that the callers of a process wait for.

A request that waits holds no database connection, and none of the slots in which requests are answered.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextvars import Context
from typing import Any, Generic, TypeVar

from asgiref.sync import sync_to_async
from django.db import connections
from django.http import HttpRequest

_log = logging.getLogger(__name__)

# In the scope of a request: its slot, and whether it is part of another request.
SLOT, IS_PART = "memplatform.slot", "memplatform.is_part"

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Slot:
    """One of the slots of a process, which a request takes and gives back."""

    def __init__(self, slots: asyncio.Semaphore) -> None:
        self._slots = slots
        self._is_held = False

    async def take(self) -> None:
        """Wait for a free slot."""
        await self._slots.acquire()
        self._is_held = True

    def give_back(self) -> None:
        """Let another request have the slot."""
        if self._is_held:
            self._is_held = False
            self._slots.release()


class SharedPoll(Generic[Question, Answer]):
    """Questions that the database is asked at intervals, all at once, until it has an answer.

    `read` returns the answers that there are. It is called in a thread, and only while somebody waits.
    """

    def __init__(self, read: Callable[[AbstractSet[Question]], Mapping[Question, Answer]], *, interval: float) -> None:
        self._read = read
        self._interval = interval
        self._waiting: dict[asyncio.Future[Answer | None], Question] = {}
        self._task: asyncio.Task[None] | None = None
        self._fails = False  # what was last asked of the database
        self.has_ended = False

    def __len__(self) -> int:
        """Return how many callers wait."""
        return len(self._waiting)

    async def answer(self, question: Question, *, seconds: float) -> Answer | None:
        """Wait for the answer; None when the time is up."""
        future: asyncio.Future[Answer | None] = asyncio.get_running_loop().create_future()
        self._waiting[future] = question
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._poll(), context=Context())  # not in the scope of the first caller
        try:
            return await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return None
        finally:
            del self._waiting[future]

    def end_all(self) -> None:
        """Let nobody wait any longer; those who would wait again see `has_ended`."""
        self.has_ended = True
        for future in self._waiting:
            if not future.done():
                future.set_result(None)

    async def _poll(self) -> None:
        while self._waiting:
            await asyncio.sleep(self._interval)
            found = await asyncio.to_thread(self._found, set(self._waiting.values()))
            for future, question in self._waiting.items():
                if question in found and not future.done():
                    future.set_result(found[question])

    def _found(self, questions: AbstractSet[Question]) -> Mapping[Question, Answer]:
        """Read the answers; log the first failure, and the first success after failures."""
        try:
            found = self._read(questions)
        except Exception:  # noqa: BLE001  (of the database; callers wait until it is back, or their time is up)
            if not self._fails:
                _log.exception("reading for waiting callers failed; they wait until it succeeds")
            self._fails = True
            return {}
        finally:
            return_connections()
        if self._fails:
            _log.warning("reading for waiting callers succeeds again")
        self._fails = False
        return found


def return_connections() -> None:
    """Give the database connections of this thread back to the pool, outside of transactions."""
    for connection in connections.all(initialized_only=True):
        if not connection.in_atomic_block:
            connection.close()


async def release(request: HttpRequest) -> None:
    """Give back what a request holds, before it waits: its database connections and its slot."""
    await sync_to_async(return_connections)()
    if slot := scope_of(request).get(SLOT):
        slot.give_back()


async def resume(request: HttpRequest) -> None:
    """Take a slot again, after a request has waited."""
    if slot := scope_of(request).get(SLOT):
        await slot.take()


def is_part(request: HttpRequest) -> bool:
    """Return True for a request that was made within another one, which was counted."""
    return bool(scope_of(request).get(IS_PART))


def scope_of(request: HttpRequest) -> dict[str, Any]:
    """Return the ASGI scope of a request; empty without a server, as in tests."""
    return getattr(request, "scope", {})
