"""Parse request bodies: strict JSON, up to the size limit; negotiate the format of answers."""

import json
from collections.abc import Iterable, Mapping
from typing import IO, Any

import msgspec
from django.conf import settings
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request

from apps.api.problems import Code, Problem
from apps.pipeline.core.input_validation import check_json


class StrictJSONParser(BaseParser):
    """JSON in UTF-8 without repeated keys, non-finite numbers, excessive nesting, NUL or lone surrogates."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the decoded body; its bytes become `request.raw_body`.

        Raises Problem (too_large, invalid_json) and hygiene.BadInput.
        """
        body = _read(stream, most=settings.DATA_UPLOAD_MAX_MEMORY_SIZE)
        if parser_context is not None:
            parser_context["request"].raw_body = body
        try:
            value = json.loads(body.decode(), object_pairs_hook=_object, parse_constant=_refuse_constant)
        except RecursionError as error:
            raise Problem(Code.INVALID_JSON, "the body is nested too deeply") from error
        except UnicodeDecodeError as error:
            raise Problem(Code.INVALID_JSON, "the body is not UTF-8") from error
        except ValueError as error:
            # Raised for bad syntax, and for numbers of more than 4,300 digits.
            raise Problem(Code.INVALID_JSON, f"the body is not JSON: {error}") from error
        check_json(value)
        return value


class BytesParser(BaseParser):
    """Bytes of any kind, up to the size of a file to import."""

    media_type = "application/octet-stream"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> Any:
        """Return the body. Raises Problem (too_large)."""
        return _read(stream, most=settings.IMPORT_MAX_MB * 1024 * 1024)


def _read(stream: IO[Any], *, most: int) -> bytes:
    body: bytes = stream.read(most + 1)
    if len(body) > most:
        raise Problem(Code.TOO_LARGE, f"the body exceeds {most:,} bytes")
    return body


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build an object; reject repeated keys, which different parsers resolve differently."""
    built = dict(pairs)
    if len(built) != len(pairs):
        raise ValueError("an object has a repeated key")
    return built


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not valid JSON")


class JSONRenderer(BaseRenderer):
    """Render JSON, several times faster than Python's own module."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Return the JSON text; empty if there is no body."""
        return b"" if data is None else msgspec.json.encode(data)


class NoNegotiation(DefaultContentNegotiation):
    """Take any `Accept` header: the view leaves it to others, and errors are JSON whatever was asked for."""

    def select_renderer(
        self, request: Request, renderers: Iterable[BaseRenderer], format_suffix: str | None = None
    ) -> Any:
        """Return the first renderer and its media type."""
        first = next(iter(renderers))
        return first, first.media_type
