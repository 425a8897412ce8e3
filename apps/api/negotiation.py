"""Answer in JSON, whichever way a caller says that JSON will do."""

from collections.abc import Iterable
from typing import Any

import msgspec
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

_PLAIN = ("", "*/*", "application/json")  # what nearly all callers send


class StructRenderer(BaseRenderer):
    """JSON of what answers are made of: plain values and structs."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Return the JSON text, nothing for no body."""
        return b"" if data is None else msgspec.json.encode(data)


class PlainNegotiation(DefaultContentNegotiation):
    """Choose as usual, but without working out what needs no working out."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return a renderer and its media type. Raises NotAcceptable."""
        only, *others = renderers
        if not others and request.META.get("HTTP_ACCEPT", "") in _PLAIN and not request.META["QUERY_STRING"]:
            return only, only.media_type
        return super().select_renderer(request, [only, *others], format_suffix)
