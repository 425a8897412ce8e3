"""The ledger: who did what, filtered, and as a file."""

import json
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from apps.console.labels import actors_named, names_of
from apps.console.paging import of_user_and_days, paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.ledger.chain import export_ledger
from apps.memories.models import LedgerEntry
from apps.pipeline.core.identifiers import Prefix, parse, with_prefixes
from apps.tenants.enums import MemberRole

# Pages of objects, by the kind in the ledger.
_PAGES = {
    "memory": "console:memory",
    "trace": "console:trace",
    "entity": "console:entity",
    "end_user": "console:user",
    "rollback": "console:rollback",
    "replay": "console:replay",
}


def audit_lines(entries: Iterable[LedgerEntry]) -> list[dict[str, Any]]:
    """Return entries with the names of people and keys, and of the pages of their object and of the trace that acted.

    "" is no page. At most two queries.
    """
    listed = list(entries)
    names = names_of(entry.actor for entry in listed)
    lines = []
    for entry in listed:
        kind, _, name = entry.actor.partition(":")
        trace_id = parse(Prefix.TRACE, name) if kind == "trace" else None
        is_named = names[entry.actor] != kind
        line = {
            "entry": entry,
            "actor": names[entry.actor] if is_named else entry.actor if trace_id is None else kind,
            "actor_id": trace_id,
            "actor_page": "" if trace_id is None else _PAGES["trace"],
            "object_page": _PAGES.get(entry.object_kind, "") if entry.object_id else "",
            "details": {key: _in_words(value) for key, value in with_prefixes(entry.details).items()},
        }
        lines.append(line)
    return lines


def _in_words(value: Any) -> str:
    """Return a detail as people read it: the words of a list, yes or no, and other structures as JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def search_ledger(request: HttpRequest, *, project_id: UUID) -> QuerySet[LedgerEntry]:
    """Return the entries of a project that match the query string, newest first; erased users are found as well.

    `actor` is a part of a name, or how it is stored begins, such as "person:" or "key:0192…".
    """
    actor, verb = query_param(request, "actor"), query_param(request, "verb")
    rows = of_user_and_days(LedgerEntry.objects.filter(project_id=project_id), request, project_id=project_id)
    if actor:
        rows = rows.filter(Q(actor__startswith=actor) | Q(actor__in=actors_named(actor)))
    if verb:
        rows = rows.filter(verb="_".join(verb.split()))
    return rows.order_by("-id")


@project_page(MemberRole.ADMIN)
def audit(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the entries of the ledger, newest first."""
    rows = search_ledger(request, project_id=visit.project.pk)
    page = paginate(rows.select_related("end_user"), request)
    shown = {"page": page, "lines": audit_lines(page.rows), "query": request.GET}
    return render(request, "console/audit.html", shown)


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download the entries that match the filters as lines of JSON, oldest first."""
    entries = search_ledger(request, project_id=visit.project.pk)
    return StreamingHttpResponse(
        export_ledger(project_id=visit.project.pk, entries=entries),
        content_type="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="ledger-{visit.project.slug}.jsonl"'},
    )
