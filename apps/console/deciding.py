"""Decisions as forms carry them, and as pages tell of them: what was done, with its undo, and what was refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from apps.actions.errors import Conflict, NotAllowed, NotFound, Refused, Unfit
from apps.actions.review.review_decisions import DecisionRefusal, ReviewDecision, Reviewer, SeenVersion
from apps.console.permissions import Visit
from apps.console.selectors.history import Past, latest_of
from apps.console.selectors.waiting import waiting

_STATUS: dict[type[Refused], int] = {NotFound: 404, Conflict: 409, NotAllowed: 403, Unfit: 422}


@dataclass(frozen=True, slots=True)
class Told:
    """What a toast says; `decided` gives it an undo."""

    text: str
    decided: ReviewDecision | None = None
    is_bad: bool = False


def person_of(visit: Visit) -> Reviewer:
    """Return who decides."""
    return Reviewer(project_id=visit.project.pk, person_id=visit.person_id)


def seen_in(given: Sequence[str]) -> tuple[SeenVersion, ...]:
    """Read memories with their versions, such as 0192…:3, as the forms carry them. Raises Unfit."""
    return tuple(_seen(text) for text in dict.fromkeys(given))


def _seen(text: str) -> SeenVersion:
    identifier, _, version = text.partition(":")
    try:
        return SeenVersion(UUID(identifier), int(version))
    except ValueError as error:
        raise Unfit(f"{text!r} is no memory in a version") from error


def decided_in(request: HttpRequest) -> ReviewDecision:
    """Read what an undo takes back. Raises Unfit."""
    link = request.POST.get("link", "")
    try:
        link_id = UUID(link) if link else None
    except ValueError as error:
        raise Unfit(f"{link!r} is no link") from error
    return ReviewDecision(memories=seen_in(request.POST.getlist("memory")), link_id=link_id)


def tell(request: HttpRequest, *told: Told, gone: Sequence[str] = (), status: int = 200) -> HttpResponse:
    """Answer with toasts; rows named in `gone` leave the list."""
    visit: Visit = request.visit  # type: ignore[attr-defined]  # set by permissions.page
    shown = {"toasts": told, "counts": waiting(project_id=visit.project.pk)}
    answer = render(request, "console/_toasts.html", shown, status=status)
    answer["HX-Retarget"], answer["HX-Reswap"] = "#toasts", "beforeend"
    if gone:
        answer["X-Gone-Rows"] = " ".join(gone)
    return answer


def refuse(request: HttpRequest, refused: Refused, *, gone: Sequence[str] = ()) -> HttpResponse:
    """Answer that nothing was done, and why."""
    return tell(
        request, Told(f"Nothing was changed: {refused}.", is_bad=True), gone=gone, status=_STATUS[type(refused)]
    )


def told_of(visit: Visit, refusals: Sequence[DecisionRefusal]) -> tuple[Told, ...]:
    """Say of each memory that was left out why: who was faster, where somebody was."""
    latest = latest_of(project_id=visit.project.pk, memory_ids=[each.memory_id for each in refusals])
    return tuple(Told(_why(each, latest.get(each.memory_id)), is_bad=True) for each in refusals)


def _why(refusal: DecisionRefusal, past: Past | None) -> str:
    if isinstance(refusal.why, Conflict) and past is not None:
        return f"Left as it is: {past.actor} has {past.operation.replace('_', ' ')} it at {past.at:%H:%M:%S}."
    return f"Left as it is: {refusal.why}."


def row_id(memory_id: UUID) -> str:
    """Return the id of a memory's row in a list."""
    return f"row-{memory_id}"
