"""Middlewares of pages: the API knows no logins, messages or fragments, so its requests pass them by."""

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
        return super().__call__(request)  # type: ignore[misc]  # of the middleware that is named beside this


class Sessions(_PagesOnly, SessionMiddleware):
    """Know a browser again."""


class Logins(_PagesOnly, AuthenticationMiddleware):
    """Tell who is logged in."""


class Messages(_PagesOnly, MessageMiddleware):
    """Say on the next page what became of an action."""


class Fragments(_PagesOnly, HtmxMiddleware):
    """Tell whether a page or a part of it is asked for."""


class ContentPolicy(_PagesOnly, CSPMiddleware):
    """Say what a page may load; the API's documentation brings scripts in its page."""
