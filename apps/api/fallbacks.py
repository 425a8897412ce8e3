"""Problem documents for errors that never reach a view; pages outside the API keep Django's own."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views import defaults

from apps.api.problems import CONTENT_TYPE, Code, Problem

_API_PATHS = ("/v1/", "/healthz", "/readyz")


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400: a request that Django itself refuses, such as an unknown host."""
    problem = Problem(Code.INVALID_REQUEST, "the request is malformed")
    return _answer(request, problem, lambda: defaults.bad_request(request, exception), status=400)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 404: no such address."""
    problem = Problem(Code.NOT_FOUND, "there is no such address")
    return _answer(request, problem, lambda: defaults.page_not_found(request, exception))


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500: a defect of ours, told without its inside."""
    problem = Problem(Code.INTERNAL, "something went wrong; it has been logged")
    return _answer(request, problem, lambda: defaults.server_error(request))


def _answer(
    request: HttpRequest, problem: Problem, page: Callable[[], Any], *, status: int | None = None
) -> HttpResponse:
    if not request.path.startswith(_API_PATHS):
        answer: HttpResponse = page()
        return answer
    document = {**problem.document(), "status": status or problem.status}
    return JsonResponse(document, status=status or problem.status, content_type=CONTENT_TYPE)
