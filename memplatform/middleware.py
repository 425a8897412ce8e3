"""Middlewares: what Django's own do not do, of pages and of the API."""

from collections.abc import AsyncIterator, Callable, Iterator
from itertools import chain
from typing import Any

from asgiref.sync import sync_to_async
from csp.constants import SELF
from csp.middleware import CSPMiddleware
from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBadRequest,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.middleware.common import CommonMiddleware

from apps.api.error_handlers import is_api
from apps.api.problems import CONTENT_TYPE, Code, Problem
from apps.api.waiting import return_connections, scope_of
from apps.memories.ledger.actor import acting_as
from apps.tenants.scope import no_tenant
from apps.traces.get_or_create import actor_of
from apps.worker.erased_caches import clear_if_due
from memplatform.body_limits import REFUSED, TIMEOUT, TOO_LARGE

_DOCUMENTATION = "/v1/docs"
_ADMIN = "/admin/"
_CONSOLE = "/console/"
BLOCK_BYTES = 256 * 1024
_REFUSALS = {
    TOO_LARGE: Problem(Code.TOO_LARGE, "the body exceeds the limit"),
    TIMEOUT: Problem(Code.REQUEST_TIMEOUT, "the body did not arrive in time"),
}
Answer = Callable[[HttpRequest], HttpResponseBase]


def keys_by_https(get_response: Answer) -> Answer:
    """Refuse API keys that came in clear to a server of HTTPS: after a redirect nobody would notice that."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        has_key = "Authorization" in request.headers or "X-API-Key" in request.headers
        if not (settings.SECURE_SSL_REDIRECT and has_key and is_api(request.path_info)) or request.is_secure():
            return get_response(request)
        problem = Problem(Code.HTTPS_REQUIRED, "the key was sent in clear: use https, and replace the key")
        return JsonResponse(problem.document(), status=problem.status, content_type=CONTENT_TYPE)

    return answer


def refused_body(get_response: Answer) -> Answer:
    """Answer requests whose body was not read (memplatform/body_limits.py), and end their connection."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if (refused := scope_of(request).get(REFUSED)) is None:
            return get_response(request)
        problem = _REFUSALS[str(refused)]
        headers = {"Connection": "close"}  # the rest of the body would pass for the next request
        if is_api(request.path_info):
            document = problem.document()
            return JsonResponse(document, status=problem.status, headers=headers, content_type=CONTENT_TYPE)
        return HttpResponse(problem.detail, status=problem.status, headers=headers, content_type="text/plain")

    return answer


def streamed_in_blocks(get_response: Answer) -> Answer:
    """Send long answers at the pace of their readers: a block is made when the server has taken the one before."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if isinstance(request, ASGIRequest) and isinstance(response, StreamingHttpResponse) and not response.is_async:
            response.streaming_content = _blocks(iter(response.streaming_content))  # type: ignore[arg-type]  # is_async
        return response

    return answer


async def _blocks(parts: Iterator[bytes]) -> AsyncIterator[bytes]:
    def next_block() -> bytes:
        block = bytearray()
        try:
            while len(block) < BLOCK_BYTES and (part := next(parts, None)) is not None:
                block += part
            return bytes(block)
        finally:
            return_connections()  # the reader may take its time

    while block := await sync_to_async(next_block)():
        yield block


def no_tenant_yet(get_response: Answer) -> Answer:
    """Begin each request without a tenant; who asks is found out later."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        with no_tenant():
            return get_response(request)

    return answer


class PageAddresses(CommonMiddleware):
    """Django's handling of addresses: one of a page that lacks its last slash is redirected, one of the API is not."""

    def should_redirect_with_slash(self, request: HttpRequest) -> bool:
        """Return True for an address that names a page once a slash is appended."""
        return not is_api(request.path_info) and super().should_redirect_with_slash(request)


def actors(get_response: Answer) -> Answer:
    """Let the ledger name the person who is logged in."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        if is_api(request.path_info):
            return get_response(request)
        with acting_as(lambda: actor_of(None, request.user.pk)):
            return get_response(request)

    return answer


def storable_input(get_response: Answer) -> Answer:
    """Refuse forms, and queries of the admin, that hold NUL, which PostgreSQL can't store or compare.

    The console's own pages clean their queries.
    """

    def answer(request: HttpRequest) -> HttpResponseBase:
        path = request.path_info
        given = () if is_api(path) else (request.POST, *([request.GET] if path.startswith(_ADMIN) else []))
        for name, values in chain.from_iterable(query.lists() for query in given):
            if any("\0" in text for text in (name, *values)):
                return HttpResponseBadRequest("The request holds a NUL character.", content_type="text/plain")
        return get_response(request)

    return answer


class ContentPolicy(CSPMiddleware):
    """The Content-Security-Policy header of all pages, those of errors and of the API's documentation too.

    Scripts carry a nonce. Those of Django's admin have none: they may come from this server.
    """

    def __call__(self, request: HttpRequest) -> Any:
        """Answer a request."""
        if is_api(request.path_info) and request.path_info != _DOCUMENTATION:
            return self.get_response(request)
        return super().__call__(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """Set the header."""
        if request.path_info.startswith(_ADMIN):
            response._csp_replace = {"script-src": [SELF]}  # type: ignore[attr-defined]  # read by django-csp
        return super().process_response(request, response)


def not_stored(get_response: Answer) -> Answer:
    """Keep pages with people's data out of the caches of browsers and proxies."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if request.path_info.startswith((_CONSOLE, _ADMIN)):
            response["Cache-Control"] = "no-store"
        return response

    return answer


def erased_caches(get_response: Answer) -> Answer:
    """Clear the caches of texts of this process from time to time, as they may be of erased end users."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        clear_if_due()
        return response

    return answer
