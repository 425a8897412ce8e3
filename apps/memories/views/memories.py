"""Memories: all of a project by filters, what people change about them, and downloads."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.utils import timezone

from apps.common.errors import Unfit
from apps.console.generic import ProjectListView
from apps.console.labels import count_of
from apps.console.paging import keyset_page, midnight, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import download
from apps.memories.filters import MemoryFilter
from apps.memories.models import Memory
from apps.memories.services.export_memories import ExportFormat, export_memories
from apps.review.forms import (
    decision_response,
    edited_content,
    edited_value,
    parse_seen,
    review_action,
)
from apps.review.services import (
    ReviewDecision,
    SeenVersion,
    StatusChange,
    change_status,
    close_memory,
    reword_memory,
)
from apps.tenants.enums import MemberRole

_DONE = {StatusChange.RETRACT: "retracted", StatusChange.ARCHIVE: "archived", StatusChange.RESTORE: "restored"}
_MEDIA_TYPES = {ExportFormat.JSONL: "application/jsonl", ExportFormat.CSV: "text/csv; charset=utf-8"}


class MemoryListView(ProjectListView):
    """List the memories of all users that match the filters."""

    template_name = "console/memories.html"
    queryset = Memory.objects.to_show()
    filterset_class = MemoryFilter
    filterset: MemoryFilter
    extra_context = {"now": timezone.now}

    def paginate_queryset(self, queryset: Any, page_size: int) -> Any:
        """Return the page that begins after, or ends before, the row that the query string names."""
        page = keyset_page(queryset, self.request, order=self.filterset.order, size=page_size)
        return None, page, page.rows, bool(page.before or page.after)


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download the memories that match the filters, in the order of the list."""
    filters = MemoryFilter(request.GET, Memory.objects.for_project(visit.project.pk).to_show(), request=request)
    matching = filters.qs  # reads the query string, also the order
    rows = filters.order.sorted(matching)
    file_format = ExportFormat.CSV if query_param(request, "format") == ExportFormat.CSV else ExportFormat.JSONL
    lines = export_memories(project_id=visit.project.pk, memories=rows, file_format=file_format)
    return download(lines, f"memories-{visit.project.slug}.{file_format}", _MEDIA_TYPES[file_format])


@review_action
def change(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Retract, archive or restore one or several memories."""
    given = request.POST.get("change", "")
    if given not in set(StatusChange):
        raise Unfit("choose what to do with the memories")
    wanted = StatusChange(given)
    seen = parse_seen(request.POST.getlist("memory"))
    if not seen:
        raise Unfit("no memory is selected")
    decided = change_status(project_id=visit.project.pk, seen=seen, change=wanted)
    return _changed(request, decided, _DONE[wanted])


@review_action
def reword(request: HttpRequest, visit: ProjectVisit, memory_id: UUID) -> HttpResponse:
    """Change the words of a live memory."""
    decided = reword_memory(
        project_id=visit.project.pk,
        seen=_seen(request, memory_id),
        content=edited_content(request),
        value=edited_value(request),
    )
    return _changed(request, decided, "reworded")


@review_action
def close(request: HttpRequest, visit: ProjectVisit, memory_id: UUID) -> HttpResponse:
    """End the validity of an active memory."""
    day = midnight(request.POST.get("ends_on", ""))
    if day is None:
        raise Unfit("choose the day until which it was true")
    decided = close_memory(project_id=visit.project.pk, seen=_seen(request, memory_id), ends_on=day)
    return _changed(request, decided, "closed")


def _seen(request: HttpRequest, memory_id: UUID) -> SeenVersion:
    """Return the memory of the address in the version of the form. Raises Unfit."""
    seen = parse_seen(request.POST.getlist("memory"))
    if len(seen) != 1 or seen[0].memory_id != memory_id:
        raise Unfit("the form is about another memory")
    return seen[0]


def _changed(request: HttpRequest, decided: ReviewDecision, verb: str) -> HttpResponse:
    return decision_response(request, decided, f"{count_of(len(decided.memories), 'memory', 'memories')} {verb}.")
