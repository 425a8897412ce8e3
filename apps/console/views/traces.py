"""Traces: what happened to each request, and why something was not remembered."""

from datetime import UTC, datetime, time, timedelta
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_date

from apps.console.asked import asked
from apps.console.paging import page_of
from apps.console.permissions import Visit, page
from apps.console.selectors.traces import LATEST, Sought, listed, told, trace_named, traces_sought, turns_sought
from apps.console.selectors.verdicts import verdicts
from apps.pipeline.core.enums import TraceStatus
from apps.traces.models import Trace

MOST_WORDS = 8
ANSWERS = 20
COUNTED = ("stored", "merged", "superseded", "pending_review", "discarded")  # what a row of the list tells


@page()
def traces(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List traces; a trace's own identifier in the search field opens it."""
    text = asked(request, "q")
    if (named := trace_named(text)) is not None:
        return redirect("console:trace", slug=visit.project.slug, trace_id=named)
    sought = _sought(request)
    found = page_of(traces_sought(project_id=visit.project.pk, sought=sought), request, size=25)
    shown = {
        "page": found,
        "listed": listed(found.rows),
        "sought": sought,
        "query": request.GET,
        "statuses": list(TraceStatus),
        "latest": LATEST,
        "counted": COUNTED,
    }
    return render(request, "console/traces.html", shown)


@page()
def trace(request: HttpRequest, visit: Visit, trace_id: UUID) -> HttpResponse:
    """Show one trace as its funnel, with every stage, model call, the plan and the memories."""
    rows = Trace.objects.select_related("end_user", "session", "configuration").defer("configuration__policy")
    shown = told(get_object_or_404(rows, project=visit.project, pk=trace_id))
    return render(request, "console/trace.html", {"told": shown})


@page()
def why_not(request: HttpRequest, visit: Visit) -> HttpResponse:
    """Find what someone said, and tell of each turn why it was or was not remembered."""
    user, text = asked(request, "user"), asked(request, "q")
    found = []
    if text or user:
        rows = turns_sought(project_id=visit.project.pk, user=user, words=_words(text))
        found = verdicts(rows[:ANSWERS])
    shown = {"user": user, "text": text, "verdicts": found, "most": ANSWERS, "latest": LATEST}
    return render(request, "console/why_not.html", shown)


def _sought(request: HttpRequest) -> Sought:
    until = _midnight(asked(request, "until"))
    return Sought(
        user=asked(request, "user"),
        words=_words(asked(request, "q")),
        status=asked(request, "status"),
        reason=asked(request, "reason"),
        since=_midnight(asked(request, "since")),
        until=until + timedelta(days=1) if until else None,
    )


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a search."""
    return tuple(text.split()[:MOST_WORDS])


def _midnight(text: str) -> datetime | None:
    try:
        day = parse_date(text)
    except ValueError:  # well-formed, but no such day
        return None
    return datetime.combine(day, time.min, tzinfo=UTC) if day and day.year > 1 and day.year < 9999 else None
