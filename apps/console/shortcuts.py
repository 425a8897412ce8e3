"""What views share: actions of buttons, refusals as messages, downloads, parts that show progress, and single use."""

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from apps.common.errors import NotFound, Refused
from apps.console.permissions import ProjectVisit, View, project_page
from apps.tenants.enums import MemberRole


@contextmanager
def refusals_told(
    request: HttpRequest, *, outcome: str = "Nothing was changed", tells_absence: bool = False
) -> Iterator[None]:
    """Turn a refusal of the block into a message; what is not there is a page 404 unless `tells_absence`."""
    try:
        yield
    except Refused as refused:
        if isinstance(refused, NotFound) and not tells_absence:
            raise Http404(str(refused)) from refused
        messages.error(request, f"{outcome}: {refused}.")


def project_action(
    role: MemberRole = MemberRole.ADMIN,
    *,
    page: str,
    row: str = "",
    kept: Sequence[str] = (),
    changes_archived: bool = False,
    outcome: str = "Nothing was changed",
    tells_absence: bool = False,
) -> Callable[[Callable[..., HttpResponse | None]], View]:
    """Let a function do what a button of the project asks, for members with the role.

    It takes a POST, tells refusals, and leads to `page` unless the function returns another response. `row` is the
    argument of the URL that this page needs as well, `kept` are the parameters of the query string that it gets.
    """

    def decorate(act: Callable[..., HttpResponse | None]) -> View:
        @require_POST
        @project_page(role, changes_archived=changes_archived)
        @wraps(act)
        def view(request: HttpRequest, visit: ProjectVisit, **named: Any) -> HttpResponseBase:
            response = None
            with refusals_told(request, outcome=outcome, tells_absence=tells_absence):
                response = act(request, visit, **named)
            query = {name: request.GET[name] for name in kept if request.GET.get(name)}
            return response or redirect(visit.address(page, *([named[row]] if row else []), **query))

        return view

    return decorate


def download(lines: Iterable[Any], name: str, media_type: str = "application/jsonl") -> StreamingHttpResponse:
    """Return lines as a file that the browser saves under the name."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return StreamingHttpResponse(lines, content_type=media_type, headers=headers)


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


def done_once(told: str, *, page: str, row: str = "") -> Callable[[View], View]:
    """Let a view of the project do a form only once; sent again, it leads to `page` with a message.

    A form that was answered with an error was not done. `row` is the argument of the URL that the page needs as well.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def checked(request: HttpRequest, *args: Any, **named: Any) -> HttpResponseBase:
            given = request.POST.get(FIELD, "")[:40]
            done = request.session.get(_DONE, [])
            if given in done:
                messages.info(request, told)
                visit: ProjectVisit = request.visit  # type: ignore[attr-defined]  # set by project_page
                return redirect(visit.address(page, *([named[row]] if row else [])))
            response = view(request, *args, **named)
            if given and response.status_code < 400:
                request.session[_DONE] = [*done, given][-_KEPT:]
            return response

        return checked

    return decorate
