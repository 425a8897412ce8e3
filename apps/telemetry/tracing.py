"""Spans by OpenTelemetry's API; the SDK is loaded only where the standard variables name a collector.

Attributes never hold what people said, names of end users, or paths. Without the SDK a caller's `traceparent` is still
passed on, so that log lines of all processes name its trace.
"""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured
from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.trace import Link, Span, SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from apps.pipeline.core.enums import Stage

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

STOP_SECONDS = 2.0  # to send what is left when a process ends; a collector that is away must not hold it up
_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_HEADER = "traceparent"

_tracer = trace.get_tracer("memplatform")
_propagator = TraceContextTextMapPropagator()
_provider: "TracerProvider | None" = None


def start_tracing() -> None:
    """Send spans from this process on, by the SDK's exporter; forked processes call it themselves.

    Raises ImproperlyConfigured where a collector is named, but the SDK is not installed.
    """
    global _provider
    is_off = os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    if is_off or os.environ.get("OTEL_TRACES_EXPORTER", "otlp") != "otlp" or not any(map(os.environ.get, _ENDPOINTS)):
        return
    try:  # here, as the SDK takes a tenth of a second and 20 MB to load
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        told = f"{' and '.join(_ENDPOINTS)} need packages that are not installed: memplatform[server]"
        raise ImproperlyConfigured(told) from error

    named = Resource.create({"service.name": "memplatform"}).merge(OTELResourceDetector().detect())
    _provider = TracerProvider(resource=named, shutdown_on_exit=False)
    _provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(_provider)


def stop_tracing() -> None:
    """Send what is left, within STOP_SECONDS."""
    if _provider is not None:
        ending = threading.Thread(target=_provider.shutdown, daemon=True)
        ending.start()
        ending.join(STOP_SECONDS)


def is_recording() -> bool:
    """Return True if spans are recorded, so that it is worth while to look for their parents."""
    return _provider is not None


def current_traceparent() -> str:
    """Return the current span as the value of a header `traceparent` (W3C Trace Context), empty without one."""
    carrier: dict[str, str] = {}
    _propagator.inject(carrier)
    return carrier.get(_HEADER, "")


@contextmanager
def span(name: str, *, kind: SpanKind = SpanKind.INTERNAL, parents: Sequence[str] | None = None) -> Iterator[Span]:
    """Open a span while the block runs; an error that leaves the block fails it, with its type and no message.

    It is within the current span, or where `parents` names traceparents within the first, and linked with the others.
    """
    remote = [_propagator.extract({_HEADER: each}, Context()) for each in dict.fromkeys(filter(None, parents or ()))]
    within = None if parents is None else (remote or [Context()])[0]
    links = [Link(trace.get_current_span(each).get_span_context()) for each in remote[1:]]
    opened = _tracer.start_span(name, within, kind, links=links)
    # The message of an error may quote what people said.
    with trace.use_span(opened, end_on_exit=True, record_exception=False, set_status_on_exception=False):
        try:
            yield opened
        except Exception as error:
            fail(opened, type(error).__name__)
            raise


def stage_span(stage: Stage) -> AbstractContextManager[Span]:
    """Open a span around a stage of the pipeline."""
    return span(f"stage {stage}")


def fail(opened: Span, kind: str) -> None:
    """Mark a span as failed, with the kind of failure."""
    opened.set_status(StatusCode.ERROR)
    opened.set_attribute("error.type", kind)
