"""What an action refuses is told on the page that the person comes to next."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib import messages
from django.http import Http404, HttpRequest

from apps.common.errors import NotFound, Refused


@contextmanager
def refusals_told(request: HttpRequest) -> Iterator[None]:
    """Turn what is not there into a page 404, and any other refusal of the block into a message."""
    try:
        yield
    except NotFound as absent:
        raise Http404(str(absent)) from absent
    except Refused as refused:
        messages.error(request, f"Nothing was done: {refused}.")
