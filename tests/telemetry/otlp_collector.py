"""A collector on loopback that keeps what it is sent by OTLP over HTTP."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class SentSpan:
    name: str
    trace_id: str
    span_id: str
    parent_id: str
    attributes: dict[str, Any]
    links: tuple[str, ...]


@dataclass
class Collector:
    """What was sent: spans, and the bodies of all requests. While `answers` is not set, none ends."""

    port: int = 0
    spans: list[SentSpan] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    answers: threading.Event = field(default_factory=threading.Event)
    held: int = 0

    def named(self, name: str) -> list[SentSpan]:
        return [span for span in self.spans if span.name == name]

    def take(self, path: str, body: bytes) -> None:
        self.bodies.append(body)
        if path == "/v1/traces":
            for group in ExportTraceServiceRequest.FromString(body).resource_spans:
                self.spans += [_span(span) for scope in group.scope_spans for span in scope.spans]


def _span(span: Any) -> SentSpan:
    return SentSpan(
        name=span.name,
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        attributes={each.key: _value(each.value) for each in span.attributes},
        links=tuple(link.trace_id.hex() for link in span.links),
    )


def _value(value: Any) -> Any:
    kind = value.WhichOneof("value")
    return [_value(each) for each in value.array_value.values] if kind == "array_value" else getattr(value, kind)


@contextmanager
def running_collector(port: int = 0) -> Iterator[Collector]:
    """Run a collector while the block runs, on a free port by default."""
    collector = Collector()
    collector.answers.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if not collector.answers.is_set():
                collector.held += 1
                collector.answers.wait()
            collector.take(self.path, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    collector.port = server.server_port
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield collector
    collector.answers.set()
    server.shutdown()
    server.server_close()
