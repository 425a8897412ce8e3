"""A file to import may be larger than any other body, and only for callers with credentials."""

import asyncio
from typing import Any

import pytest

from memplatform.asgi_types import Event, Receive, Scope, Send
from memplatform.body_limits import REFUSED, BodyLimits

KEY = (b"authorization", b"Bearer mp_key")


@pytest.mark.parametrize(
    ("path", "headers", "refused"),
    [
        ("/v1/imports/imp_1/file", [KEY], None),
        ("/console/demo/imports/new/", [(b"cookie", b"a=b")], None),
        ("/v1/imports/imp_1/file", [], "too_large"),
        ("/v1/imports", [KEY], "too_large"),
        ("/v1/turns", [KEY], "too_large"),
    ],
)
def test_a_file_to_import_alone_is_larger(path: str, headers: list[Any], refused: str | None) -> None:
    seen: list[tuple[Any, int]] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append((scope.get(REFUSED), len((await receive())["body"])))

    async def receive() -> Event:
        return {"type": "http.request", "body": b"x" * 3_000, "more_body": False}

    async def send(_: Event) -> None: ...

    limited = BodyLimits(application, largest=1_000, largest_upload=5_000, seconds=5.0)
    scope = {"type": "http", "path": path, "headers": [*headers, (b"content-length", b"3000")]}
    asyncio.run(limited(scope, receive, send))

    assert seen == [(refused, 0 if refused else 3_000)]
