"""Calls in threads whose results are awaited."""

import asyncio
import threading

import pytest

from memplatform.serving.request_threads import RequestThreads
from tests.event_loop import run_async


def test_results_and_errors_are_those_of_the_calls() -> None:
    threads = RequestThreads(2, name="request")

    async def ask() -> list[int]:
        with pytest.raises(ZeroDivisionError):
            await threads.run(divmod, 1, 0)
        return [await threads.run(int, text, base=2) for text in ("10", "11")]

    assert run_async(ask()) == [2, 3]
    threads.stop()


def test_stopping_finishes_the_calls_that_were_made() -> None:
    threads = RequestThreads(1, name="request")
    begun, go_on, done = threading.Event(), threading.Event(), []

    def first() -> None:
        begun.set()
        go_on.wait()
        done.append("first")

    async def ask() -> None:
        calls = asyncio.gather(threads.run(first), threads.run(done.append, "second"))
        await asyncio.to_thread(begun.wait)
        go_on.set()
        threads.stop()
        assert done == ["first", "second"]
        await calls

    run_async(ask())


def test_a_call_whose_caller_has_gone_is_not_made() -> None:
    threads = RequestThreads(1, name="request")
    begun, go_on, done = threading.Event(), threading.Event(), []

    async def ask() -> None:
        first = asyncio.ensure_future(threads.run(lambda: (begun.set(), go_on.wait())))
        await asyncio.to_thread(begun.wait)
        second = asyncio.ensure_future(threads.run(done.append, "second"))
        await asyncio.sleep(0)
        second.cancel()
        await asyncio.wait([second])
        go_on.set()
        await first

    run_async(ask())
    threads.stop()
    assert done == []
