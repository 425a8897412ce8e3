"""Requests that depend on each other, written once for both clients: generators yield calls and get their answers."""

from collections.abc import Generator
from typing import Any, TypeVar

from memplatform_client.async_client import AsyncClient
from memplatform_client.calls import Call
from memplatform_client.client import Client
from memplatform_client.errors import MemplatformError

T = TypeVar("T")
Steps = Generator[Call[Any], Any, T]


def run(steps: Steps[T], client: Client) -> T:
    """Send the calls of a generator and return its result; errors are raised where it waits for the answer."""
    try:
        call = next(steps)
        while True:
            try:
                answer = client.send(call)
            except MemplatformError as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result


async def run_async(steps: Steps[T], client: AsyncClient) -> T:
    """Send the calls of a generator and return its result; errors are raised where it waits for the answer."""
    try:
        call = next(steps)
        while True:
            try:
                answer = await client.send(call)
            except MemplatformError as error:
                call = steps.throw(error)
            else:
                call = steps.send(answer)
    except StopIteration as end:
        result: T = end.value
        return result
