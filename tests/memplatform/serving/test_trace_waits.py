"""Callers that wait for traces: all are answered when theirs has ended, and their number is bounded."""

import asyncio
from collections.abc import Set as AbstractSet
from uuid import uuid4

from apps.actions.traces.awaited_trace import AwaitedTrace
from memplatform.serving.trace_waits import TraceWaits
from tests.event_loop import run_async

LONG = 30.0


class Traces:
    """Which traces have ended, as the database would say."""

    def __init__(self) -> None:
        self.ended: set[AwaitedTrace] = set()
        self.asked: list[set[AwaitedTrace]] = []
        self.is_unreachable = False

    def reached_of(self, awaited: AbstractSet[AwaitedTrace]) -> set[AwaitedTrace]:
        self.asked.append(set(awaited))
        if self.is_unreachable:
            self.is_unreachable = False
            raise ConnectionError("the database is gone")
        return self.ended & awaited


def test_each_waits_for_its_own_trace() -> None:
    traces, first, second = Traces(), AwaitedTrace(uuid4()), AwaitedTrace(uuid4())
    traces.is_unreachable = True  # at first
    waits = TraceWaits(traces.reached_of, at_most=3)

    async def wait() -> None:
        callers = [asyncio.create_task(waits.wait(each, seconds=LONG)) for each in (first, first, second)]
        while len(traces.asked) < 2:
            await asyncio.sleep(0)
        assert not any(caller.done() for caller in callers)
        traces.ended.add(first)
        await asyncio.gather(*callers[:2])
        assert not callers[2].done()
        traces.ended.add(second)
        await callers[2]

    run_async(wait())
    assert traces.asked[0] == {first, second}  # one query for all


def test_the_time_is_up() -> None:
    traces = Traces()
    run_async(TraceWaits(traces.reached_of, at_most=1).wait(AwaitedTrace(uuid4()), seconds=0.01))
    assert traces.ended == set()


def test_too_many_do_not_wait() -> None:
    traces, trace = Traces(), AwaitedTrace(uuid4())
    waits = TraceWaits(traces.reached_of, at_most=1)

    async def wait() -> None:
        first = asyncio.create_task(waits.wait(trace, seconds=LONG))
        await asyncio.sleep(0)
        await waits.wait(AwaitedTrace(uuid4()), seconds=LONG)
        assert not first.done()
        traces.ended.add(trace)
        await first

    run_async(wait())
