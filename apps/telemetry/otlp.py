"""Send spans to an OpenTelemetry collector by OTLP over HTTP; loaded only where the environment names a collector."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from opentelemetry import trace
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.trace import Link, NonRecordingSpan, Span, SpanContext, StatusCode, TraceFlags

from apps.telemetry.collector import ReportedSpanExporter
from apps.telemetry.request_context import request_context, working_on
from apps.telemetry.tracing import AttributeValue, OpenSpan, SpanKind

_KINDS = {
    SpanKind.SERVER: trace.SpanKind.SERVER,
    SpanKind.CLIENT: trace.SpanKind.CLIENT,
    SpanKind.CONSUMER: trace.SpanKind.CONSUMER,
    SpanKind.INTERNAL: trace.SpanKind.INTERNAL,
}


def resource() -> Resource:
    """Return what describes this service; OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence."""
    is_named = "OTEL_SERVICE_NAME" in os.environ or "service.name=" in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    return Resource.create({} if is_named else {"service.name": "memplatform"})


class OtlpSpans:
    """The spans of this process, which a thread sends in batches; those that can't be sent are dropped."""

    def __init__(self) -> None:
        self._provider = TracerProvider(resource=resource(), shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(ReportedSpanExporter(OTLPSpanExporter())))
        self._tracer = self._provider.get_tracer("memplatform")

    def stop(self) -> None:
        """Send what is left; it takes as long as the collector lets it wait."""
        self._provider.shutdown()

    @contextmanager
    def span(self, name: str, *, kind: SpanKind, parents: Sequence[str]) -> Iterator[OpenSpan]:
        """Open a span while the block runs, under the first parent, or else the current span."""
        first, *others = parents or (request_context().traceparent,)
        opened = self._tracer.start_span(
            name,
            context=trace.set_span_in_context(NonRecordingSpan(_parsed(first))) if first else Context(),
            kind=_KINDS[kind],
            links=[Link(_parsed(each)) for each in others],
            record_exception=False,  # its message may quote what people said
            set_status_on_exception=False,
        )
        recorded = _Recorded(opened)
        try:
            with working_on(replace(request_context(), traceparent=_shown(opened.get_span_context()))):
                yield recorded
        except Exception as error:  # whatever it is, it is noted in the span and raised again
            recorded.fail(type(error).__name__)
            raise
        finally:
            opened.end()


class _Recorded:
    """An open span of the SDK."""

    def __init__(self, opened: Span) -> None:
        self._opened = opened
        self.is_recorded = opened.is_recording()

    def set(self, attributes: Mapping[str, AttributeValue]) -> None:
        """Add attributes."""
        self._opened.set_attributes(attributes)

    def rename(self, name: str) -> None:
        """Change its name."""
        self._opened.update_name(name)

    def fail(self, kind: str) -> None:
        """Set its status and `error.type`."""
        self._opened.set_status(StatusCode.ERROR)
        self._opened.set_attribute(ERROR_TYPE, kind)


def _parsed(traceparent: str) -> SpanContext:
    """Return the span that a traceparent names."""
    _, trace_id, span_id, flags = traceparent.split("-")
    return SpanContext(int(trace_id, 16), int(span_id, 16), is_remote=True, trace_flags=TraceFlags(int(flags, 16)))


def _shown(context: SpanContext) -> str:
    return f"00-{context.trace_id:032x}-{context.span_id:016x}-{int(context.trace_flags):02x}"
