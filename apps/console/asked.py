"""What a person typed into the address of a page, or into its search."""

from django.http import HttpRequest

MOST_CHARACTERS = 500


def asked(request: HttpRequest, name: str) -> str:
    """Return a text of the query, trimmed; a NUL, which no database takes, counts as a space."""
    return request.GET.get(name, "").replace("\x00", " ").strip()[:MOST_CHARACTERS]
