"""The MCP server at /mcp: the tools of the client package, whose requests to the REST API stay within the process.

Each message is a request of its own, in every version of the protocol, and gets one JSON answer; so it does not matter
which process answers, and no connection stays open.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx2
from django.conf import settings
from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings

from apps.api.waiting import IS_PART
from memplatform.asgi_types import Application, Event, Receive, Scope, Send
from memplatform_client import AsyncClient, Retries
from memplatform_client.mcp.access import Access
from memplatform_client.mcp.server import memory_server

_AT_ONCE = Retries(attempts=1)  # the agent decides whether to try again
# What a request within another one takes over from it: how its caller has reached this server.
_TAKEN_OVER = (b"host", b"x-forwarded-proto", b"x-forwarded-for", b"x-request-id", b"traceparent")


class McpApplication:
    """The SDK's application, for callers whose key the REST API accepts."""

    def __init__(self, rest: Application) -> None:
        self._rest = rest
        # Django has checked the host, and no browser sends the key of another site.
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        self.server: Any = memory_server(self._connect, version=str(settings.SPECTACULAR_SETTINGS["VERSION"]))
        self.server = self.server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            transport_security=security,
            max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a message, unless the REST API refuses its caller (apps/api/views/mcp.py)."""
        unread: list[Event] = [{"type": "http.request", "body": b"", "more_body": False}]
        checked: list[Event] = []

        async def no_body() -> Event:
            if not unread:
                await asyncio.Event().wait()  # the next message would say that the caller has gone
            return unread.pop()

        async def keep(event: Event) -> None:
            checked.append(event)

        await self._rest(scope, no_body, keep)
        if checked[0]["status"] == 202:
            await self.server(scope, receive, send)
            return
        for event in checked:
            await send(event)

    @asynccontextmanager
    async def _connect(self, context: Context[Any, Any]) -> AsyncIterator[Access]:
        """Give tools the REST API, with the key of the message that calls them."""
        request = context.request_context.request
        assert request is not None, "every message comes by HTTP"  # noqa: S101  (for the type)
        headers: Mapping[str, str] = request.headers
        key = headers.get("authorization", "").partition(" ")[2].strip() or headers.get("x-api-key", "")
        transport = in_process(self._rest, request.scope)
        async with AsyncClient("http://in-process", key, http_transport=transport, retries=_AT_ONCE) as client:
            yield Access(client, headers.get("memplatform-user-id"), headers.get("memplatform-agent-id"))


def in_process(rest: Application, outer: Mapping[str, Any]) -> httpx2.ASGITransport:
    """Return the way for a client to call the REST API of this process, as parts of the request with this scope."""
    taken = [(name, value) for name, value in outer["headers"] if name in _TAKEN_OVER]

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        own = [(name, value) for name, value in scope["headers"] if name not in _TAKEN_OVER]
        part = {"scheme": outer["scheme"], "headers": own + taken, IS_PART: True}
        await rest({**scope, **part}, receive, send)

    return httpx2.ASGITransport(answer, client=outer["client"])
