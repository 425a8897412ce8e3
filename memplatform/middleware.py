"""Middlewares of the console and admin; API requests skip them, as they need no logins, messages or fragments."""

from collections.abc import Callable
from typing import Any

from csp.middleware import CSPMiddleware
from django.contrib.auth.middleware import AuthenticationMiddleware
from django.contrib.messages.middleware import MessageMiddleware
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest
from django_htmx.middleware import HtmxMiddleware

_API = "/v1/"


class _PagesOnly:
    get_response: Callable[[HttpRequest], Any]

    def __call__(self, request: HttpRequest) -> Any:
        if request.path_info.startswith(_API):
            return self.get_response(request)
        return super().__call__(request)  # type: ignore[misc]  # the method of the other base class


class Sessions(_PagesOnly, SessionMiddleware):
    """Django's sessions."""


class Logins(_PagesOnly, AuthenticationMiddleware):
    """Django's authentication."""


class Messages(_PagesOnly, MessageMiddleware):
    """Django's messages."""


class Fragments(_PagesOnly, HtmxMiddleware):
    """htmx request details, which tell a fragment from a full page."""


class ContentPolicy(_PagesOnly, CSPMiddleware):
    """The Content-Security-Policy header; the API documentation has inline scripts and goes without."""
