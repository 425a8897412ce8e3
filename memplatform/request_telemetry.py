"""The outermost middleware: each request has an id, is counted and timed, and is a span where spans are recorded."""

from collections.abc import Callable
from time import perf_counter

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from apps.telemetry.counted_metrics import counted_metrics
from apps.telemetry.pool_metrics import note_pool
from apps.telemetry.request_context import (
    REQUEST_ID_HEADER,
    RequestContext,
    request_context,
    request_id_of,
    traceparent_of,
    working_on,
)
from apps.telemetry.tracing import OpenSpan, SpanKind, span

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_OTHER = "other"  # in place of what callers could choose freely


class RequestTelemetry:
    """Tell of requests, without their paths, which may name end users."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer a request; the id that it was given, or a new one, is in the answer and in lines of the log."""
        context = RequestContext(
            request_id=request_id_of(request.META.get("HTTP_X_REQUEST_ID")),
            traceparent=traceparent_of(request.META.get("HTTP_TRACEPARENT")),
        )
        with working_on(context), span(request.method or _OTHER, kind=SpanKind.SERVER) as opened:
            response = self._timed(request)
            if opened.is_recorded:
                _describe(opened, request, response)
        response[REQUEST_ID_HEADER] = context.request_id
        return response

    def _timed(self, request: HttpRequest) -> HttpResponseBase:
        started = perf_counter()
        response = self.get_response(request)
        metrics, method, route = counted_metrics(), _method(request), route_of(request)
        metrics.count_request(method, route, response.status_code)
        metrics.time_request(method, route, perf_counter() - started)
        note_pool()
        return response


def route_of(request: HttpRequest) -> str:
    """Return the pattern of a request's URL; "other" where there is none, as for static files."""
    match = request.resolver_match
    return f"/{match.route}" if match else _OTHER


def _method(request: HttpRequest) -> str:
    return request.method if request.method in _METHODS else _OTHER


def _describe(opened: OpenSpan, request: HttpRequest, response: HttpResponseBase) -> None:
    method, route, status = _method(request), route_of(request), response.status_code
    opened.rename(f"{method} {route}")
    opened.set(
        {
            "http.request.method": method,
            "http.route": route,
            "http.response.status_code": status,
            "url.scheme": request.scheme or "",
            "memplatform.request_id": request_context().request_id,
        }
    )
    if status >= 500:
        opened.fail(str(status))
