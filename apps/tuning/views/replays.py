"""Replays: traces run again under another version, and one turn tried in the whole funnel."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect

from apps.console.choices import ReplayForm, WhatIfForm
from apps.console.generic import ProjectDetailView, ProjectFormView, ProjectListView
from apps.console.paging import midnight, next_midnight, paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import download, progress_part, project_action
from apps.memories.models import Memory
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, Replay, ReplayedState, ReplayedTrace, ReplayState, Turn
from apps.tuning.replays.services import (
    EXPORTS,
    TraceChoice,
    export_replay,
    request_replay,
)
from apps.tuning.replays.what_if import what_if

TRACES = 20  # on a page, each with its differences


class ReplayListView(ProjectListView):
    """List the replays, newest first."""

    template_name = "console/replays.html"
    queryset = Replay.objects.select_related("configuration", "person").defer("configuration__policy")


class _VersionFormView(ProjectFormView):
    """A form with a choice of versions; the query string may name one."""

    def get_initial(self) -> dict[str, Any]:
        return {"version": query_param(self.request, "version")}

    def get_form_kwargs(self) -> dict[str, Any]:
        versions = ConfigurationVersion.objects.filter(project=self.visit.project).defer("policy")
        return super().get_form_kwargs() | {"versions": versions}


class ReplayFormView(_VersionFormView):
    """Choose traces and a version; the estimate comes before the start."""

    role = MemberRole.ADMIN
    template_name = "console/replay_new.html"
    form_class = ReplayForm

    def save(self, form: ReplayForm) -> HttpResponse:
        """Request the replay, and show its estimate."""
        given = form.cleaned_data
        made = request_replay(
            project_id=self.visit.project.pk,
            choice=TraceChoice(
                user_id=given["user"],
                session_id=given["session"],
                since=midnight(str(given["since"])),
                until=next_midnight(str(given["until"])),
                sample=given["sample"],
            ),
            version=given["version"],
            is_isolated=given["isolated"],
            allows_live_calls=given["live_calls"],
        )
        return redirect(self.visit.address("replay", made.pk))


class ReplayDetailView(ProjectDetailView):
    """Show estimate, progress, sums, and the traces in one state with their differences."""

    template_name = "console/replay.html"
    queryset = Replay.objects.select_related("configuration", "person")
    pk_url_kwarg = "replay_id"

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the sums, a page of traces, and the active version."""
        state = query_param(self.request, "state")
        state = state if state in SHOWN_STATES else ReplayedState.DIFFERENT
        rows = ReplayedTrace.objects.filter(replay=self.object, state=state).select_related("end_user", "trace")
        page = paginate(rows.order_by("end_user_id", "position"), self.request, size=TRACES)
        sums = self.object.totals
        tiles = [(label, int(sums.get(name, 0))) for label, name in _TILES]
        efforts = [(label, sums.get(f"{name}_before", 0), sums.get(f"{name}_after", 0)) for label, name in _EFFORTS]
        versions = ConfigurationVersion.objects.filter(project=self.visit.project).defer("policy")
        return super().get_context_data(**context) | {
            # The most important ones always.
            "tiles": [tile for place, tile in enumerate(tiles) if tile[1] or place < 5],
            "efforts": [row for row in efforts if row[1] or row[2]],  # in the records and in the replay
            "states": [(each, sums.get(each.value, 0)) for each in SHOWN_STATES],
            "state": state,
            "page": page,
            "traces": _shown_traces(page.rows),
            "active": versions.filter(is_active=True).first(),
            "why_uncompared": _why_uncompared(self.object),
        }


def _why_uncompared(replay: Replay) -> str:
    """Return why a replay that is done says nothing about any trace; empty if it does."""
    count = replay.totals.get
    if replay.state != ReplayState.DONE or count(ReplayedState.SAME) or count(ReplayedState.DIFFERENT):
        return ""
    if not count(ReplayedState.FAILED):
        return "since no trace has a recorded answer to its prompt and the model was not asked"
    if not count(ReplayedState.MISSED):
        return "since every trace failed"
    return "since every trace failed or has no recorded answer to its prompt"


@project_page()
def progress(request: HttpRequest, visit: ProjectVisit, replay_id: UUID) -> HttpResponse:
    """Show how far a replay is; when it is over, the page is loaded again."""
    found = get_object_or_404(Replay, project=visit.project, pk=replay_id)
    return progress_part(request, "console/_replay_progress.html", {"replay": found}, is_over=found.is_over)


@project_action(page="replay", row="replay_id")
def act(request: HttpRequest, visit: ProjectVisit, replay_id: UUID, action: Callable[..., Any]) -> None:
    """Start or resume a replay, or cancel it."""
    action(project_id=visit.project.pk, replay_id=replay_id)


@project_page()
def export(request: HttpRequest, visit: ProjectVisit, replay_id: UUID) -> StreamingHttpResponse:
    """Download the differences as CSV, or as JSON with `as=json`."""
    found = get_object_or_404(Replay, project=visit.project, pk=replay_id)
    kind = "json" if query_param(request, "as") == "json" else "csv"
    return download(export_replay(found, kind), f"{found.shown_id}.{kind}", EXPORTS[kind])


class WhatIfView(_VersionFormView):
    """Show what the whole funnel would make of one turn; nothing is written."""

    template_name = "console/what_if.html"
    form_class = WhatIfForm

    def save(self, form: WhatIfForm) -> HttpResponse:
        """Try the turn, and show the outcome below the form."""
        given = form.cleaned_data
        result = what_if(
            project_id=self.visit.project.pk,
            user_id=given["user"],
            content=given["content"],
            role=given["role"],
            before=given["before"],
            version=given["version"],
            asks_model=given["asks_model"] and self.visit.may_administer,  # a call costs money
        )
        return self.render_to_response(self.get_context_data(form=form, result=result))


_TILES = (
    ("Turns newly dropped", "turns_dropped"),
    ("Turns newly kept", "turns_kept"),
    ("Memories newly stored", "memories_added"),
    ("Memories no longer stored", "memories_removed"),
    ("Memories stored differently", "memories_changed"),
    ("Memories newly superseded", "superseded_added"),
    ("Memories no longer superseded", "superseded_removed"),
    ("New links", "links_added"),
    ("Links no longer made", "links_removed"),
)
_EFFORTS = (("Model calls", "calls"), ("Tokens", "tokens"), ("Cost in USD", "cost_usd"))
SHOWN_STATES = (ReplayedState.DIFFERENT, ReplayedState.SAME, ReplayedState.MISSED, ReplayedState.FAILED)

# What an operation means to people; those that are not listed follow from others.
_OPERATIONS = {
    "AddMemory": "memory",
    "MergeInto": "merged into a known memory",
    "SupersedeMemory": "superseded",
    "ReviseMemory": "absorbed",
    "LinkMemories": "link",
    "FlagForReview": "for review",
    "AddEntity": "entity",
    "RenameEntity": "name of an entity",
    "ReassignAlias": "description of an entity",
}


def _shown_traces(rows: Sequence[ReplayedTrace]) -> list[dict[str, Any]]:
    """Return traces with their differences, the texts of turns and the memories that exist; two queries for all."""
    users = {row.end_user_id for row in rows}
    turn_ids = {each["turn_id"] for row in rows for each in row.diff.get("turns", ())}
    ids = {each["object_id"] for row in rows for each in row.diff.get("operations", ())}
    turns = dict(Turn.objects.filter(end_user_id__in=users, id__in=turn_ids).values_list("id", "content"))
    known = dict(Memory.objects.filter(end_user_id__in=users, id__in=ids).values_list("id", "content"))
    shown = []
    for row in rows:
        verdicts = [{**each, "content": turns.get(UUID(each["turn_id"]), "")} for each in row.diff.get("turns", ())]
        made = [each for each in row.diff.get("operations", ()) if each["operation"] in _OPERATIONS]
        operations: list[dict[str, Any]] = []
        for change in made:
            object_id = UUID(change["object_id"])
            named = known.get(object_id, "")
            operations.append(
                {
                    "kind": change["kind"],
                    "what": _OPERATIONS[change["operation"]],
                    "before": change["before_content"] or (named if change["kind"] == "removed" else ""),
                    "after": change["content"] or (named if change["kind"] == "added" else ""),
                    "fields": [each for each in change["fields"] if each["name"] != "candidate.content"],
                    "memory_id": object_id if object_id in known else None,
                }
            )
        discards = row.diff.get("discards", ())
        shown.append({"row": row, "verdicts": verdicts, "operations": operations, "discards": discards})
    return shown
