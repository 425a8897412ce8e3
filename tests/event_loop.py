"""Run coroutines in tests: browser tests of the same process keep an event loop in its main thread."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_async(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end in an event loop of its own, and return its result."""
    return in_thread(lambda: asyncio.run(coroutine))


def in_thread(call: Callable[[], T]) -> T:
    """Return what a call returns in a thread without an event loop."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(call).result()
