"""Reading text parameters of a query string."""

from django.http import HttpRequest

MAX_CHARACTERS = 500


def query_param(request: HttpRequest, name: str) -> str:
    """Return a text parameter, trimmed and shortened; NUL, which PostgreSQL rejects, becomes a space."""
    return request.GET.get(name, "").replace("\x00", " ").strip()[:MAX_CHARACTERS]
