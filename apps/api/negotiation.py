"""Content negotiation for an API that only speaks JSON."""

from collections.abc import Iterable
from typing import Any

import msgspec
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

_ACCEPTS_JSON = ("", "*/*", "application/json")  # what nearly all clients send


class StructRenderer(BaseRenderer):
    """Render built-in values and msgspec structs as JSON."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Return the JSON text; empty if there is no body."""
        return b"" if data is None else msgspec.json.encode(data)


class JsonNegotiation(DefaultContentNegotiation):
    """Negotiate as DRF does, with a shortcut for the usual `Accept` headers."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return a renderer and its media type. Raises NotAcceptable."""
        only, *others = renderers
        if not others and request.META.get("HTTP_ACCEPT", "") in _ACCEPTS_JSON and not request.META["QUERY_STRING"]:
            return only, only.media_type
        return super().select_renderer(request, [only, *others], format_suffix)


class NoNegotiation(DefaultContentNegotiation):
    """Take any `Accept` header: the view leaves it to others, and errors are JSON whatever was asked for."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return the first renderer and its media type."""
        first = next(iter(renderers))
        return first, first.media_type
