"""Rollback: take back what traces wrote, after a preview, and undo that."""

from collections.abc import Mapping
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.common.errors import Refused, Unfit
from apps.console.choices import choice_problems
from apps.console.labels import names_of
from apps.console.paging import MAX_CHARACTERS, midnight, next_midnight, paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.models import Rollback
from apps.pipeline.core.enums import RollbackState
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, parse
from apps.pipeline.core.input_validation import BadInput
from apps.tenants.enums import MemberRole
from apps.tenants.models import ApiKey
from apps.tuning.rollbacks.requests import RollbackRequest, preview_rollback, request_rollback, undo_rollback
from apps.tuning.rollbacks.running import progress_of
from apps.tuning.rollbacks.selection import TraceSelection, named_selection
from apps.tuning.selectors.rollbacks import MOST_SHOWN, explained_changes, explained_kept, tiles_of, undo_text

CHOICES = (
    "trace",
    "version",
    "key",
    "user",
    "session",
    "replay",
    "since",
    "until",
)  # names of fields and query parameters


@project_page(MemberRole.ADMIN)
def rollbacks(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List rollbacks, and choose traces for another one."""
    return _list(request, visit, chosen={}, problems={})


def _list(
    request: HttpRequest, visit: ProjectVisit, *, chosen: Mapping[str, str], problems: Mapping[str, str]
) -> HttpResponse:
    """Show the form with what was chosen and why it was refused, and the rollbacks."""
    # A selection may name 10,000 traces, and so may each row of the page.
    page = paginate(Rollback.objects.filter(project=visit.project).defer("selection", "forced"), request)
    keys = ApiKey.objects.filter(project=visit.project).order_by("-created_at")[:MOST_SHOWN]
    shown = {
        "page": page,
        "names": names_of(each.actor for each in page.rows),
        "keys": keys,
        "chosen": chosen,
        "problems": problems,
    }
    return render(request, "console/rollbacks.html", shown, status=422 if problems else 200)


@project_page(MemberRole.ADMIN)
def new(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Preview the rollback of the chosen traces; do it on POST."""
    if request.method != "POST" and not request.GET:
        return redirect("console:rollbacks", slug=visit.project.slug)
    chosen = {name: _text(request.GET, name) for name in CHOICES}
    try:
        asked = _request(request, visit)
        if request.method == "POST":
            rollback = request_rollback(request=asked)
            return redirect("console:rollback", slug=visit.project.slug, rollback_id=rollback.pk)
        preview = preview_rollback(request=asked)
    except (Unfit, BadInput, BadIdentifier) as unfit:
        return _list(request, visit, chosen=chosen, problems=choice_problems(unfit, chosen=chosen))
    except Refused as refused:
        return render(request, "console/new_rollback.html", {"problem": str(refused), "chosen": chosen}, status=422)
    shown = {
        "preview": preview,
        "tiles": tiles_of(preview.counts),
        "changes": explained_changes(preview),
        "kept": explained_kept(preview.kept),
        "most": MOST_SHOWN,
        "chosen": chosen,
        "rerun": asked.rerun,
    }
    return render(request, "console/new_rollback.html", shown)


@project_page(MemberRole.ADMIN)
def rollback(request: HttpRequest, visit: ProjectVisit, rollback_id: UUID) -> HttpResponse:
    """Show a rollback with its progress and what it has left alone."""
    rows = Rollback.objects.defer("selection", "forced")
    found = get_object_or_404(rows, project=visit.project, pk=rollback_id)
    reached = progress_of(found)
    shown = {
        "rollback": found,
        "progress": reached,
        "done": reached.users - reached.waiting,
        "tiles": tiles_of(found.counts),
        "kept": explained_kept(reached.kept),
        "names": names_of(each for each in (found.actor, found.undone_by) if each),
        "undone": undo_text(found.counts) if found.state == RollbackState.UNDONE else "",
    }
    part = "console/_rollback.html" if getattr(request, "htmx", None) else "console/rollback.html"
    return render(request, part, shown)


@require_POST
@project_page(MemberRole.ADMIN)
def undo(request: HttpRequest, visit: ProjectVisit, rollback_id: UUID) -> HttpResponse:
    """Restore what a rollback took back."""
    try:
        undone = undo_rollback(project_id=visit.project.pk, rollback_id=rollback_id)
    except Refused as refused:
        messages.error(request, f"Nothing was changed: {refused}.")
        return redirect("console:rollbacks", slug=visit.project.slug)
    if undone.is_over:
        messages.info(request, undo_text(undone.counts))
    return redirect(reverse("console:rollback", args=[visit.project.slug, undone.pk]))


def _request(request: HttpRequest, visit: ProjectVisit) -> RollbackRequest:
    """Return what is asked for. Raises Refused, BadInput and BadIdentifier."""
    return RollbackRequest(
        project_id=visit.project.pk,
        selection=_selection(request.GET, visit),
        forced=[parse(Prefix.MEMORY, each) for each in request.POST.getlist("force")],
        note=_text(request.POST, "note"),
        rerun="rerun" in (request.POST if request.method == "POST" else request.GET),
    )


def _selection(given: QueryDict, visit: ProjectVisit) -> TraceSelection:
    version, key = _text(given, "version"), _text(given, "key")
    if version and not version.isdecimal():
        raise BadInput("is the number of a configuration version", at="version")
    return named_selection(
        project_id=visit.project.pk,
        trace_ids=[parse(Prefix.TRACE, each) for each in _text(given, "trace").replace(",", " ").split()],
        version=min(int(version), 10**9) if version else None,
        api_key_id=parse(Prefix.API_KEY, key) if key else None,
        user_id=_text(given, "user"),
        session_id=_text(given, "session"),
        replay_id=parse(Prefix.REPLAY, replay) if (replay := _text(given, "replay")) else None,
        since=midnight(_text(given, "since")),
        until=next_midnight(_text(given, "until")),
    )


def _text(given: QueryDict, name: str) -> str:
    return given.get(name, "").replace("\x00", " ").strip()[: 20 * MAX_CHARACTERS]
