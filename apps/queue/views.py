"""Queue: pending and failed background work, to retry or discard."""

from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest

from apps.console.filters import ProjectFilter, tab_filter
from apps.console.generic import ProjectListView
from apps.console.labels import count_of
from apps.console.permissions import ProjectVisit
from apps.console.shortcuts import project_action
from apps.outbox.model_pauses import try_now
from apps.outbox.models import ModelPause, OutboxRow, WorkerHeartbeat
from apps.pipeline.core.enums import WorkState
from apps.queue.selectors import failed_work, pause_text
from apps.queue.services import SECONDS, discard_work, make_test_call, model_health, retry_failed, retry_work


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


_OF_LIST = ("state", "page")  # in the query string
_list_action = project_action(page="queue", kept=_OF_LIST)


@_list_action
def retry_all(request: HttpRequest, visit: ProjectVisit) -> None:
    """Run failed work again: all of it, or what has an error or belongs to a user."""
    error = request.POST.get("error", "").replace("\r\n", "\n")  # browsers send CRLF
    retried = retry_failed(project_id=visit.project.pk, error=error, user_id=request.POST.get("user", ""))
    messages.success(request, f"{count_of(retried, 'failed entry', 'failed entries')} will be retried now.")


@project_action(page="queue")
def try_model(request: HttpRequest, visit: ProjectVisit) -> None:
    """Ask a model that does not answer again, without waiting for its next try."""
    if try_now(project_id=visit.project.pk):
        messages.success(request, "The model will be tried now.")
    else:
        messages.info(request, "Nothing to try: all models answer.")


@project_action(page="queue", outcome="No call was made", tells_absence=True)
def test_model(request: HttpRequest, visit: ProjectVisit) -> None:
    """Make a test call and say what has come of it."""
    made = make_test_call(project_id=visit.project.pk, model=request.POST.get("model", ""))
    took = f"{made.latency_us / 1_000_000:.1f} s"
    if made.error:
        messages.error(request, f"{made.model} did not answer after {took}: {made.error[:300]}")
    else:
        messages.success(request, f"{made.model} has answered in {took}. What waited for it continues.")


@_list_action
def retry(request: HttpRequest, visit: ProjectVisit, row_id: int) -> None:
    """Make a queue entry due now."""
    retry_work(project_id=visit.project.pk, row_id=row_id)
    undo = visit.address("discard", row_id) + _filter(request)
    messages.success(request, f"Entry {row_id} will be retried now.", extra_tags=undo)


@_list_action
def discard(request: HttpRequest, visit: ProjectVisit, row_id: int) -> None:
    """Mark an entry as failed, so that work behind it continues."""
    discard_work(project_id=visit.project.pk, row_id=row_id)
    undo = visit.address("retry", row_id) + _filter(request)
    messages.success(request, f"Entry {row_id} was discarded.", extra_tags=undo)


def _filter(request: HttpRequest) -> str:
    """Return the query string of the list that a button belongs to."""
    kept = {name: request.GET[name] for name in _OF_LIST if request.GET.get(name)}
    return f"?{urlencode(kept)}" if kept else ""
