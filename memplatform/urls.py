"""Addresses: the API, the console, the admin, and the root that sends people to it."""

import sys
from http import HTTPStatus

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.generic import RedirectView

from apps.api import error_handlers as problems
from apps.api.problems import problem_of
from apps.console import errors as pages
from apps.console.permissions import ArchivedHere
from memplatform.documentation import documentation

urlpatterns = [
    path("", RedirectView.as_view(pattern_name="console:home")),
    path("", include("apps.api.urls")),
    path("console/login/", include("memplatform.login_urls")),
    path("console/", include("apps.console.urls")),
    # One login for both: the admin's own would ask for no second factor.
    path("admin/login/", RedirectView.as_view(pattern_name="account_login", query_string=True)),
    path("admin/", admin.site.urls),
    path("docs/", documentation, name="documentation"),
    path("docs/<path:path>", documentation, name="documentation"),
]

# Errors that never reach a view are problem documents below the API's addresses, pages elsewhere.


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 400: Django itself rejects the request, for example for an unknown host."""
    return problems.bad_request() if problems.is_api(request.path_info) else pages.bad_request(request)


def handler403(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 403: the person lacks a role, or the project is archived."""
    if isinstance(exception, ArchivedHere):
        return pages.archived(request)
    return pages.forbidden(request, reason=str(exception))


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Handle 404: no URL matches, or the row is not there."""
    return problems.not_found(request.path_info) if problems.is_api(request.path_info) else pages.not_found(request)


def handler500(request: HttpRequest) -> HttpResponse:
    """Handle 500: an unexpected error; details go to the log, not to the caller."""
    error = sys.exc_info()[1]
    problem = problem_of(error) if isinstance(error, Exception) else None
    if problems.is_api(request.path_info):
        return problems.server_error(problem)
    return pages.server_error(problem.title if problem and problem.status == HTTPStatus.SERVICE_UNAVAILABLE else "")
