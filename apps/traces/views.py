"""Traces of requests, what agents would get, and sessions that are read again."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.common.errors import ProviderError, Refused
from apps.console.choices import DEFAULTS, RecallForm
from apps.console.labels import count_of, label, names_of
from apps.console.paging import paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import progress_part
from apps.intake.read_again import read_again, sessions_to_read
from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.enums import Reason, TraceStatus
from apps.retrieval.context import ContextQuery
from apps.retrieval.query import SearchQuery
from apps.search.selectors import recall as selectors
from apps.search.selectors.explanations import explain_turns
from apps.search.services import RecallRequest, explain_recall
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, Trace
from apps.traces.selectors import (
    LATEST,
    TraceSearch,
    list_traces,
    load_trace,
    parse_trace_id,
    search_traces,
    search_turns,
    split_words,
)

MAX_TURNS = 20
COUNTED = ("stored", "merged", "superseded", "pending_review", "discarded")  # shown in each row of the list


@project_page()
def traces(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List traces; searching for a trace identifier opens the trace."""
    text = query_param(request, "q")
    if (named := parse_trace_id(text)) is not None:
        return redirect("console:trace", slug=visit.project.slug, trace_id=named)
    search = TraceSearch.of(request)
    found = paginate(search_traces(project_id=visit.project.pk, search=search), request, size=25)
    shown = {
        "page": found,
        "listed": list_traces(found.rows),
        "search": search,
        "query": request.GET,
        "statuses": list(TraceStatus),
        # A reason that was stored by other rules than today's stays chosen.
        "reasons": sorted({*Reason, *filter(None, [search.reason])}, key=label),
        "latest": LATEST,
        "counted": COUNTED,
        "shown_at": found.rows[0].created_at if found.rows and found.number == 1 else timezone.now(),
    }
    return render(request, "console/traces.html", shown)


@project_page()
def trace(request: HttpRequest, visit: ProjectVisit, trace_id: UUID) -> HttpResponse:
    """Show a trace: funnel, turns, stages, model calls, memories and the plan."""
    rows = Trace.objects.select_related("end_user", "session", "configuration").defer("configuration__policy")
    shown = load_trace(get_object_or_404(rows, project=visit.project, pk=trace_id))
    by = names_of([shown.rollback.actor]) if shown.rollback else {}
    return render(request, "console/trace.html", {"detail": shown, "rolled_back_by": next(iter(by.values()), "")})


@project_page()
def why_not(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Find turns and explain why each was or was not remembered."""
    user, text = query_param(request, "user"), query_param(request, "q")
    found = []
    if text or user:
        rows = search_turns(project_id=visit.project.pk, user=user, words=split_words(text))
        found = explain_turns(rows[:MAX_TURNS])
    shown = {"searched_user": user, "text": text, "explanations": found, "most": MAX_TURNS, "latest": LATEST}
    return render(request, "console/why_not.html", shown)


@project_page()
def reading(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show how far the reading is; when it is over, the page is loaded again."""
    found = sessions_to_read(visit.project.pk)
    return progress_part(request, "console/_reading.html", {"reading": found}, is_over=not found.reading)


@require_POST
@project_page(MemberRole.ADMIN)
def read(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Read the sessions again that hold quotes."""
    try:
        enqueued = read_again(visit.project.pk)
    except Refused as refused:
        messages.error(request, f"Nothing will be read: {refused}.")
    else:
        if enqueued:
            messages.success(request, f"{count_of(enqueued, 'session')} will be read again with the model.")
        else:
            messages.info(request, "Nothing was left to read.")
    return redirect("console:dashboard", slug=visit.project.slug)


@project_page()
def recall(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the form, and with a user what their query finds, also compared with another version."""
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")
    given = DEFAULTS | {name: value for name, value in request.GET.items() if value}
    form = RecallForm(given if "user" in request.GET else None, project_id=visit.project.pk, versions=versions)
    shown: dict[str, Any] = {
        "form": form,
        "users": selectors.offered_users(project_id=visit.project.pk),
        "meanings": selectors.meanings_of_parts(),
    }
    if form.is_valid():
        try:
            shown |= _explained(form.cleaned_data, visit)
        except ProviderError:
            form.add_error(None, "The embedder does not answer. Try again later.")
    return render(request, "console/recall.html", shown, status=422 if form.errors else 200)


def _explained(given: dict[str, Any], visit: ProjectVisit) -> dict[str, Any]:
    found = explain_recall(request=_request(given, visit, given["version"]))
    other = explain_recall(request=_request(given, visit, given["against"])) if given["against"] else None
    block_rows = None
    if found.block is not None:
        block_rows = selectors.block_rows(found.block, against=other.block if other else None)
    return {
        "recall": found,
        "end_user": given["user"],
        "rows": selectors.recall_rows(found, against=other),
        "result_count": sum(each.place is not None for each in found.search.scored),
        "left_out": selectors.left_out(found),
        "unscored": selectors.unscored_of(found),
        "against": given["against"],
        "budget": given["budget"],
        "block_rows": block_rows,
    }


def _request(given: dict[str, Any], visit: ProjectVisit, version: int | None) -> RecallRequest:
    text, stakes, least = given["q"], given["stakes"], given["min_score"]
    scope = AgentScope(agent_id=given["agent"])
    query = SearchQuery(
        text=text, limit=given["limit"], stakes=stakes, min_score=least, as_of=given["as_of"], told_in=scope
    )
    block = ContextQuery(
        token_budget=given["budget"],
        text=text,
        stakes=stakes,
        min_score=least,
        told_in=scope,
    )
    return RecallRequest(
        project_id=visit.project.pk,
        end_user_id=given["user"].pk,
        query=query,
        block=None if given["as_of"] else block,  # blocks tell of the present
        version=version,
    )
