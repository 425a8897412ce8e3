"""Parsing of decision forms, and the responses to them: toasts with undo, and refusals."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_POST

from apps.common.errors import Conflict, NotAllowed, NotFound, Refused, Unfit
from apps.console.navigation import with_sums
from apps.console.permissions import ProjectVisit, View, project_page
from apps.pipeline.core.input_validation import BadInput, checked_name, cleaned_text
from apps.review.selectors.comparisons import latest_changes
from apps.review.selectors.review import pending_counts
from apps.review.services import ReviewDecision, SeenVersion
from apps.tenants.enums import MemberRole

MOST_CONTENT = 20_000  # characters, as the REST interface takes
MOST_VALUE = 2_000
MOST_REFUSALS = 2  # that are told one by one
MOST_AT_ONCE = 500  # memories that one request decides about; each takes some 10 ms

_STATUS: dict[type[Refused], int] = {NotFound: 404, Conflict: 409, NotAllowed: 403, Unfit: 422}


@dataclass(frozen=True, slots=True)
class Toast:
    """A short message; with `decided` or `skipped` it has an undo button."""

    text: str
    decided: ReviewDecision | None = None
    is_bad: bool = False
    skipped: tuple[UUID, ...] = ()


def edited_content(request: HttpRequest) -> str | None:
    """Return the content that a reviewer wrote, cleaned; None if it was not edited. Raises Unfit."""
    text = request.POST.get("content")
    try:
        return None if text is None else cleaned_text(text, at="content", most=MOST_CONTENT)
    except BadInput as error:
        raise Unfit(f"the content {error}") from error


def edited_value(request: HttpRequest) -> str | None:
    """Return the object that a reviewer wrote, "" for none; None if it was not edited. Raises Unfit."""
    text = request.POST.get("value")
    if text is not None and len(text) > MOST_VALUE:
        raise Unfit(f"the value is longer than {MOST_VALUE:,} characters")
    try:
        return text.strip() and checked_name(text, at="value") if text is not None else None
    except BadInput as error:
        raise Unfit(f"the value {error}") from error


def chosen_memories(request: HttpRequest) -> tuple[SeenVersion, ...]:
    """Return the memories to decide about, in the versions that were shown. Raises Unfit for none, and for too many."""
    seen = parse_seen(request.POST.getlist("memory"))
    if not 0 < len(seen) <= MOST_AT_ONCE:
        raise Unfit(f"choose 1 to {MOST_AT_ONCE} memories")
    return seen


def parse_seen(given: Sequence[str]) -> tuple[SeenVersion, ...]:
    """Parse memory identifiers with versions such as `0192…:3`, one or several in each text. Raises Unfit."""
    seen = []
    for text in dict.fromkeys(each for several in given for each in several.split()):
        identifier, _, version = text.partition(":")
        try:
            seen.append(SeenVersion(UUID(identifier), int(version)))
        except ValueError as error:
            raise Unfit(f"{text!r} is not a memory with a version") from error
    return tuple(seen)


def parse_undo(request: HttpRequest) -> ReviewDecision:
    """Parse the decision to undo. Raises Unfit."""
    link = request.POST.get("link", "")
    try:
        link_id = UUID(link) if link else None
    except ValueError as error:
        raise Unfit(f"{link!r} is not a link") from error
    return ReviewDecision(memories=parse_seen(request.POST.getlist("memory")), link_id=link_id)


def decision_response(request: HttpRequest, decided: ReviewDecision, text: str) -> HttpResponse:
    """Return a toast with the undo of all that was decided, and toasts about what was not (409 if nothing was)."""
    done = [each.memory_id for each in decided.memories]
    toasts = [Toast(text, decided)] if done else []
    visit: ProjectVisit = request.visit  # type: ignore[attr-defined]  # set by project_page
    refused = _refusal_toasts(visit.project.pk, decided.refused)
    status = 200 if done else 409
    return toast_response(request, *toasts, *refused, gone=[*done, *decided.refused], status=status)


def _refusal_toasts(project_id: UUID, refused: Mapping[UUID, Refused]) -> Iterator[Toast]:
    """Yield toasts about memories that were not changed: the reason, or who changed it before; of many, the first."""
    latest = latest_changes(project_id=project_id, memory_ids=refused)
    more = f" {len(refused) - 1} others were not changed either." if len(refused) > MOST_REFUSALS else ""
    for memory_id, why in list(refused.items())[: 1 if more else None]:
        reason = latest.get(memory_id, why) if isinstance(why, Conflict) else why
        yield Toast(f"Not changed: {reason}.{more}", is_bad=True)


def toast_response(request: HttpRequest, *toasts: Toast, gone: Sequence[UUID] = (), status: int = 200) -> HttpResponse:
    """Return toasts; the page removes the rows of the memories or pairs named in `gone` from its list."""
    visit: ProjectVisit = request.visit  # type: ignore[attr-defined]  # set by project_page
    counts = with_sums(pending_counts(project_id=visit.project.pk), visit=visit)
    response = toasts_only(request, *toasts, counts=counts, status=status)
    if gone:
        response["X-Gone-Rows"] = row_ids(gone)
        response["HX-Trigger"] = "decided"  # the page of a single memory or pair reloads itself
    return response


def row_ids(named: Sequence[UUID]) -> str:
    """Return the HTML ids of the rows of memories or pairs in a list."""
    return " ".join(f"row-{each}" for each in named)


def toasts_only(
    request: HttpRequest, *toasts: Toast, counts: Mapping[str, int] | None = None, status: int = 200
) -> HttpResponse:
    """Return toasts, and the counts of the navigation if there are any, whatever the request wanted to replace."""
    response = render(request, "console/_toasts.html", {"toasts": toasts, "counts": counts or {}}, status=status)
    if request.htmx.target != "toasts":  # type: ignore[attr-defined]  # set by django_htmx's middleware
        response["HX-Retarget"], response["HX-Reswap"] = "#toasts", "beforeend"
    return response


def refusal_response(request: HttpRequest, refused: Refused, *, gone: Sequence[UUID] = ()) -> HttpResponse:
    """Return a toast that nothing was changed, and why."""
    return toast_response(
        request, Toast(f"Nothing was changed: {refused}.", is_bad=True), gone=gone, status=_STATUS[type(refused)]
    )


def review_action(view: View) -> View:
    """Let a view take a POST of a reviewer, and answer with a toast where something is refused."""

    @require_POST
    @project_page(MemberRole.REVIEWER)
    @wraps(view)
    def told(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return view(request, *args, **kwargs)
        except Refused as refused:
            return refusal_response(request, refused)

    return told
