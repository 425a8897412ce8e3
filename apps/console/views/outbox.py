"""Outbox: what is owed, failing and dead; retry it, or bury it."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.get_or_create import actor_of
from apps.actions.queue.discard_work import discard_work
from apps.actions.queue.retry_work import retry_work
from apps.console.paging import page_of
from apps.console.permissions import Visit, page
from apps.console.selectors.dashboard import queue_now
from apps.outbox.models import OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import MemberRole, WorkState


@page()
def outbox(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List work by where it stands, what is open first; and who works."""
    state = request.GET.get("state", "")
    rows = OutboxRow.objects.filter(project=visit.project).select_related("end_user")
    if state in set(WorkState):
        rows = rows.filter(state=state).order_by("-id")
    else:
        state, rows = "", rows.filter(state__in=[WorkState.PENDING, WorkState.RUNNING]).order_by("id")
    shown = {
        "page": page_of(rows, request),
        "state": state,
        "states": list(WorkState),
        "queue": queue_now(project_id=visit.project.pk),
        "workers": WorkerHeartbeat.objects.all()[:20],
    }
    return render(request, "console/outbox.html", shown)


@require_POST
@page(MemberRole.ADMIN)
def retry(request: HttpRequest, visit: Visit, row_id: int) -> HttpResponse:
    """Make work due now."""
    try:
        retry_work(project_id=visit.project.pk, row_id=row_id)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        undo = reverse("console:bury", args=[visit.project.slug, row_id])
        messages.success(request, f"Work {row_id} is due now.", extra_tags=undo)
    return redirect("console:outbox", slug=visit.project.slug)


@require_POST
@page(MemberRole.ADMIN)
def bury(request: HttpRequest, visit: Visit, row_id: int) -> HttpResponse:
    """Give work up, so that what waits behind it goes on."""
    try:
        discard_work(project_id=visit.project.pk, row_id=row_id, actor=actor_of(None, visit.person_id))
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
    else:
        undo = reverse("console:retry", args=[visit.project.slug, row_id])
        messages.success(request, f"Work {row_id} is buried.", extra_tags=undo)
    return redirect("console:outbox", slug=visit.project.slug)
