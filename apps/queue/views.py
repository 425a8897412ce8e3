"""Queue: pending and failed background work, to retry or discard."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.filters import ProjectFilter, tab_filter
from apps.console.generic import ProjectListView
from apps.console.labels import count_of
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import refusals_told
from apps.outbox.model_pauses import try_now
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import WorkState
from apps.queue.selectors import failed_work, pause_text
from apps.queue.services import SECONDS, discard_work, make_test_call, model_health, retry_failed, retry_work
from apps.tenants.enums import MemberRole


class WorkFilter(ProjectFilter):
    """Work by state, by default the open work, oldest first."""

    state = tab_filter(WorkState, "State", any_word="open")

    def filter_queryset(self, queryset: Any) -> Any:
        """Keep the open work unless a state is given."""
        rows = queryset.order_by("-id") if self.given else queryset.open().order_by("id")
        return super().filter_queryset(rows)


class WorkListView(ProjectListView):
    """List work by state, and the workers and models."""

    template_name = "console/queue.html"
    queryset = OutboxRow.objects.select_related("end_user")
    filterset_class = WorkFilter
    extra_context = {"test_seconds": SECONDS}

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the counts, the workers and the models."""
        project_id = self.visit.project.pk
        pauses = ModelPause.objects.filter(project_id=project_id).order_by("since")
        return super().get_context_data(**context) | {
            "query": _filter(self.request),
            "pending": OutboxRow.objects.filter(project_id=project_id).open().count(),
            "workers": WorkerHeartbeat.objects.all()[:20],
            "pauses": [pause_text(pause) for pause in pauses],
            "models": model_health(project_id=project_id, pauses=pauses),
            "failed": failed_work(project_id=project_id),
        }


@require_POST
@project_page(MemberRole.ADMIN)
def retry_all(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Run failed work again: all of it, or what has an error or belongs to a user."""
    error = request.POST.get("error", "").replace("\r\n", "\n").replace("\x00", "")  # browsers send CRLF
    user = request.POST.get("user", "").replace("\x00", "")
    retried = retry_failed(project_id=visit.project.pk, error=error, user_id=user)
    messages.success(request, f"{count_of(retried, 'failed entry', 'failed entries')} will be retried now.")
    return _back(request, visit)


@require_POST
@project_page(MemberRole.ADMIN)
def try_model(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Ask a model that does not answer again, without waiting for its next try."""
    if try_now(project_id=visit.project.pk):
        messages.success(request, "The model will be tried now.")
    else:
        messages.info(request, "Nothing to try: all models answer.")
    return redirect("console:queue", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def test_model(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Make a test call and say what has come of it."""
    model = request.POST.get("model", "").replace("\x00", "")
    try:
        made = make_test_call(project_id=visit.project.pk, model=model)
    except Refused as refused:
        messages.error(request, f"No call was made: {refused}.")
    else:
        took = f"{made.latency_us / 1_000_000:.1f} s"
        if made.error:
            messages.error(request, f"{made.model} did not answer after {took}: {made.error[:300]}")
        else:
            messages.success(request, f"{made.model} has answered in {took}. What waited for it continues.")
    return redirect("console:queue", slug=visit.project.slug)


@require_POST
@project_page(MemberRole.ADMIN)
def retry(request: HttpRequest, visit: ProjectVisit, row_id: int) -> HttpResponse:
    """Make a queue entry due now."""
    with refusals_told(request):
        retry_work(project_id=visit.project.pk, row_id=row_id)
        undo = reverse("console:discard", args=[visit.project.slug, row_id]) + _filter(request)
        messages.success(request, f"Entry {row_id} will be retried now.", extra_tags=undo)
    return _back(request, visit)


@require_POST
@project_page(MemberRole.ADMIN)
def discard(request: HttpRequest, visit: ProjectVisit, row_id: int) -> HttpResponse:
    """Mark an entry as failed, so that work behind it continues."""
    with refusals_told(request):
        discard_work(project_id=visit.project.pk, row_id=row_id)
        undo = reverse("console:retry", args=[visit.project.slug, row_id]) + _filter(request)
        messages.success(request, f"Entry {row_id} was discarded.", extra_tags=undo)
    return _back(request, visit)


def _back(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    return redirect(reverse("console:queue", args=[visit.project.slug]) + _filter(request))


def _filter(request: HttpRequest) -> str:
    """Return the query string of the list that a button belongs to."""
    kept = {name: request.GET[name] for name in ("state", "page") if request.GET.get(name)}
    return f"?{urlencode(kept)}" if kept else ""
