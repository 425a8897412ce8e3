"""The web application, as `manage.py serve` runs it: Django, and the MCP server beside it."""

import asyncio
import gc
import os
import signal
from importlib import import_module

from django.conf import settings
from django.core.asgi import get_asgi_application

from memplatform import embedded
from memplatform.asgi_types import Application, Receive, Scope, Send
from memplatform.database import ensure_database, limit_statements
from memplatform.parent_death import end_with_parent

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memplatform.settings")
# A worker whose server was killed would go on to serve, with its old code beside the next server.
end_with_parent(signal.SIGKILL)
ensure_database()
limit_statements(seconds=settings.DB_REQUEST_SECONDS)
if settings.DATABASE_IS_EMBEDDED:
    embedded.keep_running(settings.EMBEDDED_DIR)
django_application = get_asgi_application()

# After Django has been set up.
from apps.webhooks.api import news  # isort: skip
from apps.telemetry.tracing import start_tracing, stop_tracing  # isort: skip
from memplatform.body_limits import BodyLimits  # isort: skip
from memplatform.request_slots import RequestSlots  # isort: skip
from memplatform.parent_death import call_on_stop  # isort: skip
from memplatform.warm_up import warm_up  # isort: skip

# A server below a sub-path of a host (https://example.com/memory), which a proxy removes or leaves.


def without_sub_path(application: Application) -> Application:
    """Return an application whose requests have their paths within the sub-path."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and f"{scope['path']}/".startswith(f"{settings.SUB_PATH}/"):
            scope = {**scope, "path": scope["path"].removeprefix(settings.SUB_PATH) or "/", "root_path": ""}
        await application(scope, receive, send)

    return answer if settings.SUB_PATH else application


def with_sub_path(application: Application) -> Application:
    """Return an application whose requests have whole paths, as Django expects them beside FORCE_SCRIPT_NAME."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        await application({**scope, "path": f"{settings.SUB_PATH}{scope['path']}"}, receive, send)

    return answer if settings.SUB_PATH else application


rest = RequestSlots(
    with_sub_path(django_application),
    count=settings.WEB_THREADS,
    monitoring_host=settings.MONITORING_HOST,
)


async def route(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request by MCP at its address, by Django elsewhere."""
    if scope["type"] == "lifespan":
        await live(receive, send)
    elif scope["type"] == "http" and scope["path"] == "/mcp":
        # Read when the first message comes: the SDK takes memory, and a moment.
        mcp = await asyncio.to_thread(import_module, "memplatform.mcp")
        await mcp.answer_message(rest, scope, receive, send)
    else:
        await rest(scope, receive, send)


async def live(receive: Receive, send: Send) -> None:
    """Do what belongs to the start and the end of the process."""
    await receive()
    call_on_stop(news.end_all)  # for streams of events the server would wait; their callers connect to another process
    await send({"type": "lifespan.startup.complete"})
    await receive()
    stop_tracing()
    await send({"type": "lifespan.shutdown.complete"})


limited = BodyLimits(
    route,
    largest=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    largest_upload=(settings.IMPORT_MAX_MB + 1) * 1024 * 1024,  # with the other fields of a form
    seconds=settings.BODY_SECONDS,
)
application = without_sub_path(limited)
start_tracing()
warm_up()
gc.collect()
gc.freeze()  # what is loaded now stays: no collection looks at it again
