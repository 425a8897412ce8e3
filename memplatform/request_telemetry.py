"""The outermost middleware: each request has an id, is logged, counted and timed, and is a span if these are sent."""

import re
from time import perf_counter

import structlog
from django.http import HttpRequest, HttpResponse
from django_structlog.middlewares import RequestMiddleware
from opentelemetry.trace import SpanKind

from apps.pipeline.core.identifiers import new_id
from apps.telemetry import metrics
from apps.telemetry.tracing import fail, span
from memplatform.logs import OTHER, route_of

REQUEST_ID_HEADER = "X-Request-Id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=-]{1,128}")
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class RequestTelemetry(RequestMiddleware):
    """Adds metrics and a span to the request's log lines; no path is recorded, as paths may name end users."""

    async_capable = False

    def handle_response(self, request: HttpRequest, response: HttpResponse) -> None:
        """Log the request in one line, with the milliseconds that it took."""
        started = request.started  # type: ignore[attr-defined]  # set below
        structlog.contextvars.bind_contextvars(ms=round(1_000 * (perf_counter() - started), 1))
        super().handle_response(request, response)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a request; the id that it was given, or a new one, is in the answer and in lines of the log."""
        request_id = request.META["HTTP_X_REQUEST_ID"] = request_id_of(request.META.get("HTTP_X_REQUEST_ID"))
        method = known_method(request.method)
        with span(method, kind=SpanKind.SERVER, parents=[request.META.get("HTTP_TRACEPARENT", "")]) as opened:
            started = request.started = perf_counter()  # type: ignore[attr-defined]  # read above
            response: HttpResponse = super().__call__(request)  # type: ignore[assignment]  # it is not asynchronous
            route, status = route_of(request), response.status_code
            metrics.REQUESTS.labels(method, route, str(status)).inc()
            metrics.REQUEST_SECONDS.labels(method, route).observe(perf_counter() - started)
            metrics.note_pool()
            opened.update_name(f"{method} {route}")
            opened.set_attributes(
                {
                    "http.request.method": method,
                    "http.route": route,
                    "http.response.status_code": status,
                    "url.scheme": request.scheme or "",
                    "memplatform.request_id": request_id,
                }
            )
            if status >= 500:
                fail(opened, str(status))
        response[REQUEST_ID_HEADER] = request_id
        return response

    @staticmethod
    def format_request(request: HttpRequest) -> str:
        """Return what log lines name a request by."""
        return f"{known_method(request.method)} {route_of(request)}"


def request_id_of(given: str | None) -> str:
    """Return the id that a caller has given its request, or a new one if it gave none that can be logged."""
    return given if given and _REQUEST_ID.fullmatch(given) else new_id().hex


def known_method(method: str | None) -> str:
    """Return a method, or "other" in place of what a caller could choose freely."""
    return method if method in _METHODS else OTHER
