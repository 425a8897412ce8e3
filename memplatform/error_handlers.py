"""Errors that never reach a view: problem documents below the API's addresses, pages elsewhere."""

from django.http import HttpRequest, HttpResponse

from apps.api import error_handlers as problems
from apps.console import errors as pages
from apps.console.permissions import ArchivedHere


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 400: Django itself rejects the request, for example for an unknown host."""
    return problems.bad_request() if problems.is_api(request.path_info) else pages.bad_request(request)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 403: the person lacks a role, or the project is archived."""
    if isinstance(exception, ArchivedHere):
        return pages.archived(request)
    return pages.forbidden(request, reason=str(exception))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 404: no URL matches, or the row is not there."""
    return problems.not_found(request.path_info) if problems.is_api(request.path_info) else pages.not_found(request)


def server_error(request: HttpRequest) -> HttpResponse:
    """Handle 500: an unexpected error; details go to the log, not to the caller."""
    return problems.server_error() if problems.is_api(request.path_info) else pages.server_error(request)
