"""What views share: refusals as messages, parts that show progress, and forms that were sent twice."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from apps.common.errors import NotFound, Refused


@contextmanager
def refusals_told(request: HttpRequest) -> Iterator[None]:
    """Turn what is not there into a page 404, and any other refusal of the block into a message."""
    try:
        yield
    except NotFound as absent:
        raise Http404(str(absent)) from absent
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")


def progress_part(request: HttpRequest, template: str, context: Mapping[str, Any], *, is_over: bool) -> HttpResponse:
    """Render how far something is; once it is over, the browser loads the whole page again."""
    response = render(request, template, context)
    if is_over:
        response["HX-Refresh"] = "true"
    return response


FIELD = "once"  # the hidden field of such a form
_DONE = "forms_done"  # in the session of the browser
_KEPT = 20


def once() -> str:
    """Return a new value for the hidden field."""
    return secrets.token_urlsafe(12)


def is_repeated(request: HttpRequest) -> bool:
    """Return True if this very form has been sent and done before."""
    return request.POST.get(FIELD, "") in request.session.get(_DONE, [])


def mark_as_done(request: HttpRequest) -> None:
    """Remember that the form was done."""
    given = request.POST.get(FIELD, "")[:40]
    if given:
        request.session[_DONE] = [*request.session.get(_DONE, []), given][-_KEPT:]
