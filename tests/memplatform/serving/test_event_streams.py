"""Callers that follow events: each gets its own, in parts it can take, and their number is bounded."""

import asyncio
from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

import pytest

from apps.events.streams import StreamPart, StreamPosition
from memplatform.serving.event_streams import HEARTBEAT, EventStreams, StreamLimits, TooManyStreams
from tests.event_loop import run_async

ONE, OTHER = UUID(int=1), UUID(int=2)
LIMITS = StreamLimits(at_most=3, of_project=2, lifetime=30.0, heartbeat=30.0)


class Log:
    """The events of projects, as the database would say; unreachable at first."""

    def __init__(self, **_: object) -> None:
        self.last: dict[UUID, int] = {}
        self.asked: list[dict[int, StreamPosition]] = []

    def read(self, positions: Mapping[int, StreamPosition]) -> dict[int, StreamPart]:
        self.asked.append(dict(positions))
        if len(self.asked) <= 2:
            raise ConnectionError("the database is gone")
        behind = {key: each for key, each in positions.items() if self.last.get(each.project_id, 0) > each.after}
        return {key: StreamPart(text=f"{each.after + 1}".encode(), last=each.after + 1) for key, each in behind.items()}


class Caller:
    """An open connection that keeps what is sent, until the caller goes."""

    def __init__(self) -> None:
        self.gone = asyncio.Event()
        self.sent: list[bytes] = []
        self.status = 0

    def response_stream(self, status: int, headers: list[tuple[str, str]]) -> "Caller":
        self.status = status
        return self

    async def send_bytes(self, data: bytes) -> None:
        self.sent.append(data)

    async def client_disconnect(self) -> None:
        await self.gone.wait()


async def sent(caller: Caller, *parts: bytes) -> None:
    async with asyncio.timeout(20):
        while caller.sent != [HEARTBEAT, *parts]:
            await asyncio.sleep(0.01)


def test_each_gets_the_events_of_its_project_until_it_goes(caplog: pytest.LogCaptureFixture) -> None:
    log = Log()
    streams = EventStreams(log.read, limits=LIMITS)

    async def follow() -> None:
        first, second = Caller(), Caller()
        serving = [
            asyncio.create_task(streams.serve(StreamPosition(project, after=0), caller))  # type: ignore[arg-type]
            for project, caller in ((ONE, first), (OTHER, second))
        ]
        await sent(first)
        log.last[ONE] = 2
        await sent(first, b"1", b"2")
        assert second.sent == [HEARTBEAT]
        first.gone.set()
        await serving[0]
        log.last[OTHER] = 1
        await sent(second, b"1")
        second.gone.set()
        await serving[1]

    run_async(follow())
    assert {each.project_id for each in log.asked[0].values()} == {ONE, OTHER}  # one reading for all
    told = [each.getMessage() for each in caplog.records if each.name == "memplatform.serving.event_streams"]
    assert told == ["reading events failed; who follows them waits until it succeeds", "events are read again"]


@pytest.mark.parametrize(("others", "allowed"), [([ONE], True), ([ONE, ONE], False), ([ONE, OTHER, OTHER], False)])
def test_the_streams_of_a_project_and_of_a_process_are_bounded(others: list[UUID], allowed: bool) -> None:
    streams = EventStreams(Log().read, limits=LIMITS)

    async def follow() -> bool:
        callers = [Caller() for _ in others]
        serving = [
            asyncio.create_task(streams.serve(StreamPosition(each, after=0), caller))  # type: ignore[arg-type]
            for each, caller in zip(others, callers, strict=True)
        ]
        await asyncio.sleep(0)
        last = Caller()
        last.gone.set()
        try:
            await streams.serve(StreamPosition(ONE, after=0), last)  # type: ignore[arg-type]
        except TooManyStreams:
            assert last.status == 0  # so that the caller can be told
            return False
        finally:
            for each in callers:
                each.gone.set()
            await asyncio.gather(*serving)
        return True

    assert run_async(follow()) is allowed


def test_a_quiet_stream_beats() -> None:
    streams = EventStreams(Log().read, limits=replace(LIMITS, heartbeat=0.01))
    caller = Caller()

    async def follow() -> None:
        serving = asyncio.create_task(streams.serve(StreamPosition(ONE, after=0), caller))  # type: ignore[arg-type]
        async with asyncio.timeout(20):
            while len(caller.sent) < 3:
                await asyncio.sleep(0.01)
            caller.gone.set()
            await serving

    run_async(follow())
    assert set(caller.sent) == {HEARTBEAT}


def test_a_stream_ends_after_its_lifetime() -> None:
    streams, caller = EventStreams(Log().read, limits=replace(LIMITS, lifetime=0.05)), Caller()
    run_async(until_its_end(streams, caller))

    assert set(caller.sent) == {HEARTBEAT}


def test_a_stream_ends_after_what_it_may_send() -> None:
    """Its caller comes again, and goes on from the last event that it has."""
    log = Log()
    log.last[ONE] = 9
    streams, caller = EventStreams(log.read, limits=replace(LIMITS, most_bytes=2)), Caller()
    run_async(until_its_end(streams, caller))

    assert caller.sent == [HEARTBEAT, b"1", b"2"]


async def until_its_end(streams: EventStreams, caller: Caller) -> None:
    async with asyncio.timeout(20):
        await streams.serve(StreamPosition(ONE, after=0), caller)  # type: ignore[arg-type]


def test_streams_end_when_the_process_is_asked_to() -> None:
    """The server would wait for them until it is killed."""
    streams, caller = EventStreams(Log().read, limits=LIMITS), Caller()

    async def follow() -> None:
        serving = asyncio.create_task(streams.serve(StreamPosition(ONE, after=0), caller))  # type: ignore[arg-type]
        await sent(caller)
        streams.end_all()
        async with asyncio.timeout(20):
            await serving

    run_async(follow())
    assert caller.sent == [HEARTBEAT]
