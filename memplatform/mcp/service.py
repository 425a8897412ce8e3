"""Answer MCP messages over HTTP by the SDK: an ASGI application behind the buffered requests of this server.

Each message is a request of its own, in every version of the protocol, and gets one JSON answer; so it does not matter
which process answers, and no connection stays open.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from django.conf import settings
from mcp.server.mcpserver import Context
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from memplatform.mcp.asgi import AsgiExchange, asgi_scope
from memplatform.mcp.in_process import InProcessTransport
from memplatform.serving.buffered_application import Answer
from memplatform.serving.protocol import Exchange
from memplatform.serving.threaded_application import Environ
from memplatform_client import AsyncClient, Retries
from memplatform_client.mcp.access import Access
from memplatform_client.mcp.server import memory_server

_OUTER = "memplatform.outer"  # in the ASGI scope: the environment of the request, and how to answer others
_AT_ONCE = Retries(attempts=1)  # the agent decides whether to try again


async def answer_mcp(environ: Environ, exchange: Exchange, answer: Answer) -> None:
    """Answer a message whose caller was checked."""
    manager = await _started()
    scope = {**asgi_scope(environ), _OUTER: (environ, answer)}
    whole = AsgiExchange(body=environ["wsgi.input"].read())
    await manager.handle_request(scope, whole.receive, whole.send)
    exchange.response_bytes(whole.status, whole.headers, bytes(whole.sent))


@asynccontextmanager
async def _connect(context: Context[Any, Any]) -> AsyncIterator[Access]:
    """Give tools the REST API, with the key of the message that calls them."""
    request = context.request_context.request
    assert request is not None, "every message comes by HTTP"  # noqa: S101  (for the type)
    environ, answer = request.scope[_OUTER]
    transport = InProcessTransport(answer, environ)
    async with AsyncClient("http://in-process", _key(environ), http_transport=transport, retries=_AT_ONCE) as client:
        yield Access(client, environ.get("HTTP_MEMPLATFORM_USER_ID"), environ.get("HTTP_MEMPLATFORM_AGENT_ID"))


def _key(environ: Environ) -> str:
    """Return the API key, which was found valid."""
    authorization = str(environ.get("HTTP_AUTHORIZATION", ""))
    return authorization.partition(" ")[2].strip() or str(environ.get("HTTP_X_API_KEY", ""))


class _Service:
    """The SDK's session manager, which runs while the process does."""

    manager: StreamableHTTPSessionManager | None = None
    running: asyncio.Task[None] | None = None
    lock = asyncio.Lock()


async def _started() -> StreamableHTTPSessionManager:
    """Return the running manager; the first message starts it."""
    async with _Service.lock:
        if _Service.manager is None:
            server = memory_server(_connect, version=str(settings.SPECTACULAR_SETTINGS["VERSION"]))
            # Django has checked the host, and no browser sends the key of another site.
            security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
            server.streamable_http_app(
                json_response=True,
                stateless_http=True,
                transport_security=security,
                max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
            )
            ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            _Service.running = asyncio.create_task(_run(server.session_manager, ready))
            await ready
            _Service.manager = server.session_manager
    return _Service.manager


async def _run(manager: StreamableHTTPSessionManager, ready: "asyncio.Future[None]") -> None:
    async with manager.run():
        ready.set_result(None)
        await asyncio.Event().wait()  # until the process ends
