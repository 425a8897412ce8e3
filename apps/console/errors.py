"""Error pages in plain words; a request for a part of a page gets a toast instead."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import get_template

from apps.review.forms import Toast, toasts_only


def bad_request(request: HttpRequest) -> HttpResponse:
    """Say that the request was not understood."""
    return error_page(request, 400, "The request was not understood", "Nothing was changed.")


def forbidden(request: HttpRequest, *, reason: str) -> HttpResponse:
    """Say which role the page requires."""
    why = f"{reason[:1].upper()}{reason[1:]}." if reason else ""
    return error_page(
        request, 403, "You may not do this", f"{why} An admin of the project can change your role under Members."
    )


def archived(request: HttpRequest) -> HttpResponse:
    """Say that an archived project can only be read."""
    why = "Nothing was changed: it can be read, but not changed. An admin can restore it on the page Project."
    return error_page(request, 403, "This project is archived", why)


def not_found(request: HttpRequest) -> HttpResponse:
    """Say what may have become of a page."""
    why = "It may have been deleted, its address may be mistyped, or it belongs to a project you are not a member of."
    return error_page(request, 404, "This does not exist", why)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Say how to send a form again that came without its cookie."""
    why = "Nothing was changed: it is too old, or the browser keeps no cookies of this site. Reload it and try again."
    return error_page(request, 403, "The page is out of date", why)


def server_error(outage: str) -> HttpResponse:
    """Show a page that needs neither the database nor the session; it names the outage, if it is one."""
    page = get_template("console/server_error.html").render({"outage": outage})
    return HttpResponse(page, status=503 if outage else 500)


def error_page(request: HttpRequest, status: int, title: str, text: str) -> HttpResponse:
    """Say what is wrong, on a page or in a toast."""
    if getattr(request, "htmx", False):
        return toasts_only(request, Toast(f"{title}. {text}", is_bad=True), status=status)
    request.visit = None  # type: ignore[attr-defined]  # no frame: it would read rows, and the scope has ended
    return render(request, "console/error.html", {"title": title, "text": text}, status=status)
