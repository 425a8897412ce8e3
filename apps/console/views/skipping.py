"""Skipping: a reviewer puts a row of a queue at the end of the own queue, and brings it back."""

from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST
from django_htmx.http import trigger_client_event

from apps.actions.errors import Unfit
from apps.console import skipping
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import identifier_of
from apps.console.review_forms import MOST_AT_ONCE, Toast, refusal_response, row_id, toast_response
from apps.pipeline.core.enums import MemberRole


@require_POST
@project_page(MemberRole.REVIEWER)
def skip(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Skip the memories of a row, or a pair; with `back`, undo that."""
    given = [identifier_of(each) for text in request.POST.getlist("row") for each in text.split()]
    ids: list[UUID] = [each for each in given if each is not None]
    if not ids or len(ids) != len(given) or len(ids) > MOST_AT_ONCE:
        return refusal_response(request, Unfit("choose what to skip"))
    if "back" in request.POST:
        skipping.bring_back(request, ids)
        answer = toast_response(request, Toast("It is back in its place."))
        return trigger_client_event(answer, "undone", {"opens": str(ids[0])})
    skipping.skip(request, ids)
    answer = toast_response(request, Toast("Skipped: it waits at the end of your queue.", skipped=tuple(ids)))
    answer["X-Skipped-Rows"] = " ".join(row_id(each) for each in ids)
    return answer
