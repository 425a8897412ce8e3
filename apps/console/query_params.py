"""Reading text parameters of a query string."""

from django.http import HttpRequest

MAX_CHARACTERS = 500


def query_param(request: HttpRequest, name: str, *, limit: int = MAX_CHARACTERS) -> str:
    """Return a text parameter of at most `limit` characters; NUL, which PostgreSQL rejects, becomes a space."""
    return request.GET.get(name, "").replace("\x00", " ").strip()[:limit]
