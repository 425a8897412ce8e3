"""Bodies are read within limits of size and time, without occupying a thread or much memory."""

import asyncio
from collections.abc import AsyncIterator, Iterable

import pytest

from memplatform.serving.request_body import BodyIncomplete, BodyLimits, BodyReader, BodyTimeout, BodyTooLarge
from tests.event_loop import run_async

LIMITS = BodyLimits(largest=1_000, small=100, seconds=0.05, bytes_per_second=1_000_000, large_at_once=1)


class FakeScope:
    def __init__(self, **headers: str) -> None:
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


class FakeExchange:
    """A body that has arrived in parts; with `ends` false, more is promised and never comes."""

    def __init__(self, *parts: bytes, ends: bool = True) -> None:
        self.parts = parts
        self.ends = ends

    async def __call__(self) -> bytes:
        return b"".join([part async for part in self])

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self.parts:
            yield part
        if not self.ends:
            await asyncio.Event().wait()


def read(scope: FakeScope, exchange: FakeExchange, limits: BodyLimits = LIMITS) -> bytes:
    async def run() -> bytes:
        return await BodyReader(limits).read(scope, exchange)  # type: ignore[arg-type]

    return run_async(run())


@pytest.mark.parametrize(
    ("headers", "parts", "expected"),
    [
        ({}, [], b""),
        ({"content_length": "0"}, [], b""),
        ({"content_length": "5"}, [b"he", b"llo"], b"hello"),
        ({"transfer_encoding": "chunked"}, [b"he", b"llo"], b"hello"),
        ({"content_length": "1000", "authorization": "Bearer x"}, [b"x" * 1_000], b"x" * 1_000),
    ],
)
def test_a_body_within_the_limits_is_read(headers: dict[str, str], parts: Iterable[bytes], expected: bytes) -> None:
    assert read(FakeScope(**headers), FakeExchange(*parts)) == expected


@pytest.mark.parametrize(
    ("headers", "parts"),
    [
        ({"content_length": "101"}, []),
        ({"transfer_encoding": "chunked"}, [b"x" * 60, b"x" * 60]),
        ({"content_length": "1001", "x_api_key": "mp_x"}, []),
        ({"content_length": "9" * 400, "x_api_key": "mp_x"}, []),
    ],
)
def test_a_larger_body_is_refused(headers: dict[str, str], parts: Iterable[bytes]) -> None:
    with pytest.raises(BodyTooLarge):
        read(FakeScope(**headers), FakeExchange(*parts, ends=False))


@pytest.mark.parametrize("headers", [{"content_length": "10"}, {"transfer_encoding": "chunked"}])
def test_a_body_that_does_not_arrive_is_given_up(headers: dict[str, str]) -> None:
    with pytest.raises(BodyTimeout):
        read(FakeScope(**headers), FakeExchange(b"half", ends=False))


@pytest.mark.parametrize("length", ["10", "-1", "ten", "1e3"])
def test_a_body_that_ends_early_or_has_no_length_is_refused(length: str) -> None:
    with pytest.raises(BodyIncomplete):
        read(FakeScope(content_length=length), FakeExchange(b"half"))


def test_large_bodies_are_read_one_after_the_other() -> None:
    key = {"authorization": "Bearer x"}

    async def run() -> list[object]:
        reader = BodyReader(LIMITS)
        slow = FakeExchange(b"x", ends=False)
        reads = [
            reader.read(FakeScope(content_length="500", **key), slow),  # type: ignore[arg-type]
            reader.read(FakeScope(content_length="500", **key), slow),  # type: ignore[arg-type]
            reader.read(FakeScope(content_length="5", **key), FakeExchange(b"small")),  # type: ignore[arg-type]
        ]
        return await asyncio.gather(*reads, return_exceptions=True)

    *large, small = run_async(run())
    assert [type(each) for each in large] == [BodyTimeout, BodyTimeout]
    assert small == b"small"
