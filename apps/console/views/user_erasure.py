"""Export and erase an end user."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.actions.errors import Refused
from apps.actions.users.services import erase_user, export_user, list_users
from apps.console.labels import count_of
from apps.console.permissions import ProjectVisit, project_page
from apps.pipeline.core.enums import MemberRole


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> StreamingHttpResponse:
    """Download everything that is stored about an end user as lines of JSON."""
    user = get_object_or_404(list_users(project_id=visit.project.pk), pk=user_id)
    return StreamingHttpResponse(
        export_user(project_id=visit.project.pk, user_id=user.external_id),
        content_type="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="{user.shown_id}.jsonl"'},
    )


@project_page(MemberRole.ADMIN, changes_archived=True)
def erase(request: HttpRequest, visit: ProjectVisit, user_id: UUID) -> HttpResponse:
    """Show what would be erased; erase it once the identifier was typed in."""
    user = get_object_or_404(list_users(project_id=visit.project.pk), pk=user_id)
    if request.method != "POST":
        return render(request, "console/user_erasure.html", {"end_user": user})
    if request.POST.get("confirmation", "") != user.external_id:
        shown = {"end_user": user, "problem": "Type the identifier exactly as it is shown."}
        return render(request, "console/user_erasure.html", shown, status=422)
    try:
        erasure = erase_user(project_id=visit.project.pk, user_id=user.external_id)
    except Refused as refused:
        messages.error(request, f"Nothing was erased: {refused}.")
    else:
        rows = count_of(sum(erasure.counts.values()), "row")
        state = "Erased" if erasure.finished_at else "The erasure goes on in the background; so far"
        messages.success(request, f"{state}: {rows}. Receipt {erasure.shown_id}.")
    return redirect("console:users", slug=visit.project.slug)
