"""Replays: traces run again under another version, and one turn tried in the whole funnel."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from apps.common.errors import Refused
from apps.console.choices import ReplayForm, WhatIfForm
from apps.console.paging import midnight, next_midnight, paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import progress_part, refusals_told
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, Replay, ReplayedState
from apps.tuning.replays.services import (
    ReplayRequest,
    TraceChoice,
    cancel_replay,
    replay_as_csv,
    replay_as_json,
    request_replay,
    start_replay,
)
from apps.tuning.replays.what_if import ImaginedTurn, what_if
from apps.tuning.selectors.replays import SHOWN_STATES, efforts_of, shown_traces, tiles_of, traces_of

TRACES = 20  # on a page, each with its differences


@project_page()
def replays(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the replays, newest first."""
    rows = Replay.objects.filter(project=visit.project).select_related("configuration", "person")
    return render(request, "console/replays.html", {"page": paginate(rows.defer("configuration__policy"), request)})


@project_page(MemberRole.ADMIN)
def new(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Choose traces and a version; the estimate comes before the start."""
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")
    form = ReplayForm(request.POST or None, versions=versions, initial={"version": query_param(request, "version")})
    if request.method == "POST" and form.is_valid():
        try:
            made = request_replay(request=_replay_request(form.cleaned_data, visit))
        except Refused as refused:
            form.add_error(None, str(refused))
        else:
            return redirect("console:replay", slug=visit.project.slug, replay_id=made.pk)
    return render(request, "console/replay_new.html", {"form": form}, status=422 if form.errors else 200)


@project_page()
def replay(request: HttpRequest, visit: ProjectVisit, replay_id: UUID) -> HttpResponse:
    """Show estimate, progress, sums, and the traces in one state with their differences."""
    found = _found(visit, replay_id)
    state = query_param(request, "state")
    state = state if state in SHOWN_STATES else ReplayedState.DIFFERENT
    page = paginate(traces_of(found, state=state), request, size=TRACES)
    context = {
        "replay": found,
        "tiles": tiles_of(found),
        "efforts": efforts_of(found),
        "states": [(each, found.totals.get(each.value, 0)) for each in SHOWN_STATES],
        "state": state,
        "page": page,
        "traces": shown_traces(page.rows),
        "active": ConfigurationVersion.objects.filter(project=visit.project, is_active=True).defer("policy").first(),
    }
    return render(request, "console/replay.html", context)


@project_page()
def progress(request: HttpRequest, visit: ProjectVisit, replay_id: UUID) -> HttpResponse:
    """Show how far a replay is; when it is over, the page is loaded again."""
    found = _found(visit, replay_id)
    return progress_part(request, "console/_replay_progress.html", {"replay": found}, is_over=found.is_over)


@require_POST
@project_page(MemberRole.ADMIN)
def start(request: HttpRequest, visit: ProjectVisit, replay_id: UUID) -> HttpResponse:
    """Start a replay, or resume it."""
    return _acted(request, visit, replay_id, start_replay)


@require_POST
@project_page(MemberRole.ADMIN)
def cancel(request: HttpRequest, visit: ProjectVisit, replay_id: UUID) -> HttpResponse:
    """Cancel a replay."""
    return _acted(request, visit, replay_id, cancel_replay)


@project_page()
def export(request: HttpRequest, visit: ProjectVisit, replay_id: UUID) -> StreamingHttpResponse:
    """Download the differences as CSV, or as JSON with `as=json`."""
    found, as_json = _found(visit, replay_id), query_param(request, "as") == "json"
    kind = "json" if as_json else "csv"
    return StreamingHttpResponse(
        replay_as_json(found) if as_json else replay_as_csv(found),
        content_type="application/json" if as_json else "text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{found.shown_id}.{kind}"'},
    )


@project_page()
def try_whole(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show what the whole funnel would make of one turn; nothing is written."""
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")
    form = WhatIfForm(request.POST or None, versions=versions, initial={"version": query_param(request, "version")})
    context: dict[str, Any] = {"form": form}
    if request.method == "POST" and form.is_valid():
        try:
            context["result"] = what_if(turn=_imagined(form.cleaned_data, visit))
        except Refused as refused:
            form.add_error(None, str(refused))
    return render(request, "console/what_if.html", context, status=422 if form.errors else 200)


def _replay_request(given: dict[str, Any], visit: ProjectVisit) -> ReplayRequest:
    choice = TraceChoice(
        user_id=given["user"],
        session_id=given["session"],
        since=midnight(str(given["since"])) if given["since"] else None,
        until=next_midnight(str(given["until"])) if given["until"] else None,
        sample=given["sample"] or 0,
    )
    return ReplayRequest(
        project_id=visit.project.pk,
        choice=choice,
        version=int(given["version"]) if given["version"] else None,
        is_isolated=given["isolated"],
        allows_live_calls=given["live_calls"],
        person_id=visit.person_id,
    )


def _imagined(given: dict[str, Any], visit: ProjectVisit) -> ImaginedTurn:
    return ImaginedTurn(
        project_id=visit.project.pk,
        user_id=given["user"],
        content=given["content"],
        role=given["role"],
        before=given["before"],
        version=int(given["version"]) if given["version"] else None,
        asks_model=given["asks_model"] and visit.may_administer,  # a call costs money
    )


def _acted(request: HttpRequest, visit: ProjectVisit, replay_id: UUID, act: Any) -> HttpResponse:
    with refusals_told(request):
        act(project_id=visit.project.pk, replay_id=replay_id)
    return redirect("console:replay", slug=visit.project.slug, replay_id=replay_id)


def _found(visit: ProjectVisit, replay_id: UUID) -> Replay:
    rows = Replay.objects.select_related("configuration", "person")
    return get_object_or_404(rows, project=visit.project, pk=replay_id)
