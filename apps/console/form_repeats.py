"""Forms that must not be sent twice: reloading a page that a form has led to sends the form again."""

import secrets

from django.http import HttpRequest

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
