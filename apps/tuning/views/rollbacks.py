"""Rollback: take back what traces wrote, after a preview, and undo that."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from apps.common.errors import Refused
from apps.console.generic import ProjectListView
from apps.console.labels import count_of, label, names_of
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import project_action
from apps.memories.models import Rollback
from apps.pipeline.core.enums import LeftAlone, RollbackState
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.tenants.enums import MemberRole
from apps.tuning.forms import RollbackForm
from apps.tuning.rollbacks.services import preview_rollback, progress_of, request_rollback, undo_rollback

MOST_SHOWN = 100  # memories in a list


class RollbackListView(ProjectListView):
    """List rollbacks, and choose traces for another one."""

    role = MemberRole.ADMIN
    template_name = "console/rollbacks.html"
    # A selection may name 10,000 traces, and so may each row of the page.
    queryset = Rollback.objects.defer("selection", "forced")

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the form and the names of those who asked."""
        shown = super().get_context_data(**context)
        names = names_of(each.actor for each in shown["page"].rows)
        return shown | {"form": RollbackForm(project_id=self.visit.project.pk), "names": names}


@project_page(MemberRole.ADMIN)
def new(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Preview the rollback of the chosen traces; do it on POST."""
    if request.method != "POST" and not request.GET:
        return redirect(visit.address("rollbacks"))
    form = RollbackForm(request.GET, project_id=visit.project.pk)
    context: dict[str, Any] = {"form": form, "chosen": request.GET, "why": _WHY, "most": MOST_SHOWN}
    if not form.is_valid():
        return render(request, "console/new_rollback.html", context, status=422)
    asked = Rollback(
        project_id=visit.project.pk,
        selection=form.selection,
        note=request.POST.get("note", ""),
        rerun="rerun" in request.POST if request.method == "POST" else form.cleaned_data["rerun"],
    )
    try:
        asked.forced = [str(parse(Prefix.MEMORY, each)) for each in request.POST.getlist("force")]
        if request.method == "POST":
            return redirect(visit.address("rollback", request_rollback(asked).pk))
        preview = preview_rollback(asked)
    except (Refused, BadIdentifier) as refused:
        return render(request, "console/new_rollback.html", context | {"problem": str(refused)}, status=422)
    context |= {"preview": preview, "tiles": _tiles(preview.counts), "rerun": asked.rerun}
    return render(request, "console/new_rollback.html", context)


@project_page(MemberRole.ADMIN)
def rollback(request: HttpRequest, visit: ProjectVisit, rollback_id: UUID) -> HttpResponse:
    """Show a rollback with its progress and what it has left alone."""
    rows = Rollback.objects.defer("selection", "forced")
    found = get_object_or_404(rows, project=visit.project, pk=rollback_id)
    users, waiting, kept = progress_of(found)
    shown = {
        "rollback": found,
        "users": users,
        "done": users - waiting,
        "tiles": _tiles(found.counts),
        "kept": kept[:MOST_SHOWN],
        "why": _WHY,
        "names": names_of(each for each in (found.actor, found.undone_by) if each),
        "undone": _undo_text(found.counts) if found.state == RollbackState.UNDONE else "",
    }
    part = "console/_rollback.html" if getattr(request, "htmx", None) else "console/rollback.html"
    return render(request, part, shown)


@project_action(page="rollback", row="rollback_id")
def undo(request: HttpRequest, visit: ProjectVisit, rollback_id: UUID) -> None:
    """Restore what a rollback took back."""
    undone = undo_rollback(project_id=visit.project.pk, rollback_id=rollback_id)
    if undone.is_over:
        messages.info(request, _undo_text(undone.counts))


_WHY: dict[LeftAlone, str] = {
    LeftAlone.EDITED: "a person or a caller has changed it since",
    LeftAlone.SAID_ELSEWHERE: "other requests say it too: it stays with their words and sources",
    LeftAlone.SAID_AGAIN: "another memory says the same by now",
    LeftAlone.BUILT_UPON: "it was compared with a memory that goes, and may wait for review because of it",
    LeftAlone.RUN_AGAIN: "the requests were run again; roll that back instead",
    LeftAlone.ROLLED_BACK_SINCE: "a later rollback has changed it; undo that one first",
    LeftAlone.REPEATED: "its turn was rejected as a repetition of one that goes; it may be sent again",
}


def _tiles(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the numbers of a rollback to show; those that are 0 are left out."""
    return [(label(name).capitalize(), number) for name, number in counts.items() if number and name != "users"]


def _undo_text(counts: Mapping[str, int]) -> str:
    """Return what an undo has restored, and what it has not."""
    restored, traces, kept = (counts.get(key, 0) for key in ("undone_traces", "traces", "undo_left_alone"))
    left = f"{count_of(kept, 'memory', 'memories')} left alone: see below why" if kept else ""
    if not restored:
        return f"Nothing was restored; {left or 'its traces were run again or are gone'}."
    some = f"The undo has restored {restored:,} of {count_of(traces, 'trace')}"
    return f"{some}; {left}." if left else f"{some}."
