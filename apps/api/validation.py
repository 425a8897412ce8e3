"""What views read from a request beside serializers: bytes, and identifiers in its path."""

from typing import Any

from rest_framework.request import Request

from apps.api.problems import Code, Problem
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse


def require_length(request: Request) -> None:
    """Refuse a body without its length. Raises Problem."""
    if "HTTP_TRANSFER_ENCODING" in request.META and not request.META.get("CONTENT_LENGTH"):
        # Django reads no body without its length, so every field would be reported as missing.
        raise Problem(Code.LENGTH_REQUIRED, "send the body with Content-Length instead of in chunks")


def read_bytes(request: Request) -> bytes:
    """Return a body that is not JSON; empty without one. Raises Problem."""
    require_length(request)
    content: Any = request.data
    return content if isinstance(content, bytes) else b""


def read_id(prefix: Prefix, text: str) -> Any:
    """Return the UUID of an identifier in the path, such as `mem_…`. Raises Problem not_found."""
    try:
        return parse(prefix, text)
    except BadIdentifier as error:
        raise Problem(Code.NOT_FOUND, str(error)) from error
