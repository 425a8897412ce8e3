"""Problem documents for errors outside the API views; other pages keep Django's error pages."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults

from apps.api.problems import CONTENT_TYPE, Code, Problem

_API_PATHS = ("/v1/", "/healthz", "/readyz")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 400: Django itself rejects the request, for example for an unknown host."""
    problem = Problem(Code.INVALID_REQUEST, "the request is malformed")
    return _respond(request, problem, lambda: defaults.bad_request(request, exception), status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 404: no URL matches."""
    problem = Problem(Code.NOT_FOUND, "no such URL")
    return _respond(request, problem, lambda: defaults.page_not_found(request, exception))


def server_error(request: HttpRequest) -> HttpResponse:
    """Handle 500: an unexpected error; details go to the log, not to the caller."""
    problem = Problem(Code.INTERNAL, "an unexpected error occurred and was logged")
    return _respond(request, problem, lambda: defaults.server_error(request))


def _respond(
    request: HttpRequest, problem: Problem, page: Callable[[], Any], *, status: int | None = None
) -> HttpResponse:
    if not request.path.startswith(_API_PATHS):
        response: HttpResponse = page()
        return response
    document = {**problem.document(), "status": status or problem.status}
    return JsonResponse(document, status=status or problem.status, content_type=CONTENT_TYPE)
