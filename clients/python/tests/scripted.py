"""A server that gives the answers of a script and keeps the requests."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import httpx2

from memplatform_client import Client, Retries

AT_ONCE = Retries(first_delay=0.0)


@dataclass
class ScriptedServer:
    """Answers with (status, body, headers) or raises an error, in order."""

    answers: list[tuple[int, Any, dict[str, str]] | httpx2.TransportError]
    requests: list[httpx2.Request] = field(default_factory=list)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, httpx2.TransportError):
            raise answer
        status, body, headers = answer
        return httpx2.Response(status, content=json.dumps(body).encode() if body is not None else b"", headers=headers)

    async def answer(self, request: httpx2.Request) -> httpx2.Response:
        return self(request)

    def bodies(self) -> list[Any]:
        return [json.loads(request.content) if request.content else None for request in self.requests]


def scripted(*answers: Any) -> tuple[Client, ScriptedServer]:
    """Return a client and the server that it calls; an answer may lack its headers."""
    server = ScriptedServer([complete(answer) for answer in answers])
    client = Client("http://server", "mp_key", retries=AT_ONCE, http_transport=httpx2.MockTransport(server))
    return client, server


def complete(answer: Any) -> Any:
    return (*answer, {}) if isinstance(answer, tuple) and len(answer) == 2 else answer


def page(results: Iterable[Any], *, cursor: str | None = None) -> tuple[int, Any]:
    following = f"http://server/v1/memories?cursor={cursor}&limit=50" if cursor else None
    return 200, {"results": list(results), "next": following, "previous": None}
