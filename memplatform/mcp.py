"""The MCP server at /mcp: the tools of the client package, whose requests to the REST API stay within the process.

Each message is a request of its own, in every version of the protocol, and gets one JSON answer; so it does not matter
which process answers, and no connection stays open.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx2
from django.conf import settings
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from apps.api.waiting import IS_PART
from memplatform.asgi_types import Application, Event, Receive, Scope, Send
from memplatform_client import AsyncClient, Retries
from memplatform_client.mcp.access import Access
from memplatform_client.mcp.server import memory_server

_AT_ONCE = Retries(attempts=1)  # the agent decides whether to try again
_VERSION = str(settings.SPECTACULAR_SETTINGS["VERSION"])
# Django has checked the host, and no browser sends the key of another site.
_CHECKED = TransportSecuritySettings(enable_dns_rebinding_protection=False)
# What a request within another one takes over from it: how its caller has reached this server.
_TAKEN_OVER = (b"host", b"x-forwarded-proto", b"x-forwarded-for", b"x-request-id", b"traceparent")


async def answer_message(rest: Application, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a message, unless the REST API refuses its caller (apps/api/mcp.py)."""
    refusal = await _refusal(rest, scope)
    for event in refusal:
        await send(event)
    if refusal:
        return
    # What is not UTF-8 can't be sent on, and is refused.
    headers = {name.decode(): value.decode("utf-8", "surrogateescape") for name, value in scope["headers"]}
    key = headers.get("authorization", "").partition(" ")[2].strip() or headers.get("x-api-key", "")
    transport = in_process(rest, scope)
    async with AsyncClient("http://in-process", key, http_transport=transport, retries=_AT_ONCE) as client:
        named = ("memplatform-user-id", "memplatform-agent-id", "idempotency-key")
        server = memory_server(Access(client, *(headers.get(name) for name in named)), version=_VERSION)
        manager: Any = StreamableHTTPSessionManager(  # whose types of ASGI are another package's
            server,
            json_response=True,
            stateless=True,
            security_settings=_CHECKED,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)


async def _refusal(rest: Application, scope: Scope) -> list[Event]:
    """Return what the REST API answers to a caller whom it refuses; nothing for the others."""
    unread: list[Event] = [{"type": "http.request", "body": b"", "more_body": False}]
    answered: list[Event] = []

    async def no_body() -> Event:
        if not unread:
            await asyncio.Event().wait()  # the next message would say that the caller has gone
        return unread.pop()

    async def keep(event: Event) -> None:
        answered.append(event)

    await rest(scope, no_body, keep)
    return [] if answered[0]["status"] == 202 else answered


def in_process(rest: Application, outer: Mapping[str, Any]) -> httpx2.ASGITransport:
    """Return the way for a client to call the REST API of this process, as parts of the request with this scope."""
    taken = [(name, value) for name, value in outer["headers"] if name in _TAKEN_OVER]

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        own = [(name, value) for name, value in scope["headers"] if name not in _TAKEN_OVER]
        part = {"scheme": outer["scheme"], "headers": own + taken, IS_PART: True}
        await rest({**scope, **part}, receive, send)

    return httpx2.ASGITransport(answer, client=outer["client"])
