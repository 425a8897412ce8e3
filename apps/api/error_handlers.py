"""Problem documents for errors outside the API views."""

from django.http import HttpResponse, JsonResponse
from django.urls import is_valid_path

from apps.api.problems import CONTENT_TYPE, Code, Problem

_API_PATHS = ("/v1/", "/v2/", "/v3/", "/api/v1/", "/mcp", "/healthz", "/readyz")


def is_api(path: str) -> bool:
    """Return True if a path is one of the API, and not of a page."""
    return path.startswith(_API_PATHS)


def bad_request() -> HttpResponse:
    """Return the document of a malformed request."""
    return _response(Problem(Code.INVALID_REQUEST, "the request is malformed"), status=400)


def not_found(path: str) -> HttpResponse:
    """Return the document of an unknown URL, which says if only a slash at its end is missing."""
    known = "; the one that ends with a slash is known" if is_valid_path(f"{path}/") else ""
    return _response(Problem(Code.NOT_FOUND, f"no such URL{known}"))


def server_error(problem: Problem | None) -> HttpResponse:
    """Return the document of an outage, or of an unexpected error."""
    return _response(problem or Problem(Code.INTERNAL, "an unexpected error occurred and was logged"))


def _response(problem: Problem, *, status: int | None = None) -> HttpResponse:
    document = {**problem.document(), "status": status or problem.status}
    return JsonResponse(document, status=status or problem.status, content_type=CONTENT_TYPE)
