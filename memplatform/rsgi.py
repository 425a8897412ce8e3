"""The web application, as scripts/serve.sh runs it: Django behind a reader that takes whole requests."""

import gc
import signal
from collections.abc import Mapping
from collections.abc import Set as AbstractSet

gc.disable()  # until everything is loaded: nearly all of it stays

from django.conf import settings
from django.db import connection

from apps.events.streams import StreamPart, StreamPosition
from memplatform import embedded
from memplatform.mcp.lazy import answer_mcp
from memplatform.parent_death import end_with_parent
from memplatform.serving.buffered_application import BufferedApplication
from memplatform.serving.event_streams import EventStreams, StreamLimits
from memplatform.serving.request_body import BodyLimits
from memplatform.serving.trace_waits import TraceWaits
from memplatform.wsgi import application as django_application

# After Django has been set up by the import above.
from memplatform.serving.refusals import no_stream, refuse  # isort: skip
from memplatform.serving.warm_up import warm_up  # isort: skip
from apps.telemetry.tracing import start_tracing, stop_tracing  # isort: skip
from apps.pipeline.extraction.plain import extractor  # noqa: F401  # isort: skip  (compiled now, not in a request)
from apps.actions.traces.milestones import reached  # isort: skip
from apps.actions.traces.awaited_trace import AwaitedTrace  # isort: skip
from apps.actions.webhooks.read_streams import read_streams  # isort: skip


def _reached(awaited: AbstractSet[AwaitedTrace]) -> set[AwaitedTrace]:
    try:
        return reached(awaited)
    finally:
        connection.close()  # back to the pool


def _read_streams(positions: Mapping[int, StreamPosition]) -> dict[int, StreamPart]:
    try:
        return read_streams(positions)
    finally:
        connection.close()


# A worker whose server was killed would go on to serve, with its old code beside the next server.
end_with_parent(signal.SIGKILL)
if settings.DATABASE_IS_EMBEDDED:
    embedded.keep_running(settings.EMBEDDED_DIR)

application = BufferedApplication(
    django_application,
    threads=settings.WEB_THREADS,
    at_once=settings.WEB_CPU_PERMITS,
    limits=BodyLimits(largest=settings.DATA_UPLOAD_MAX_MEMORY_SIZE, seconds=settings.BODY_SECONDS),
    refuse=refuse,
    waits=TraceWaits(_reached, at_most=settings.WAITING_REQUESTS),
    streams=EventStreams(
        _read_streams,
        limits=StreamLimits(
            at_most=settings.WAITING_REQUESTS,
            of_project=settings.EVENT_STREAMS_PER_PROJECT,
            lifetime=settings.EVENT_STREAM_SECONDS,
        ),
    ),
    no_stream=no_stream,
    answer_mcp=answer_mcp,
    monitoring_host=settings.MONITORING_HOST,
    on_stop=stop_tracing,
)
start_tracing()
warm_up()
gc.collect()
gc.freeze()  # no collection looks at it again while requests are answered
gc.enable()
