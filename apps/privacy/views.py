"""The ledger: who did what, filtered, and as a file."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from apps.console.labels import actors_named, names_of
from apps.console.paging import midnight, next_midnight, paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.ledger.chain import export_ledger
from apps.memories.models import LedgerEntry
from apps.pipeline.core.identifiers import Prefix, end_user_id, parse, with_prefixes
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


@dataclass(frozen=True, slots=True)
class AuditSearch:
    """Filters of the ledger; an empty one does not restrict the result."""

    actor: str = ""  # a part of a person's or key's name, or how it is stored begins, such as "person:" or "key:0192…"
    verb: str = ""  # with spaces or underscores
    user: str = ""  # user_id in the API; finds erased end users as well
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AuditLine:
    """An entry of the ledger with the names of the pages of its object and of the trace that acted; "" is none."""

    entry: LedgerEntry
    actor: str  # a name; its kind, such as "trace", where `actor_id` names it, otherwise as it is stored
    actor_id: UUID | None
    actor_page: str
    object_page: str
    details: Mapping[str, str]


def audit_lines(entries: Iterable[LedgerEntry]) -> list[AuditLine]:
    """Return entries with their pages and the names of people and keys (at most two queries)."""
    listed = list(entries)
    names = names_of(entry.actor for entry in listed)
    lines = []
    for entry in listed:
        kind, _, name = entry.actor.partition(":")
        trace_id = parse(Prefix.TRACE, name) if kind == "trace" else None
        is_named = names[entry.actor] != kind
        line = AuditLine(
            entry=entry,
            actor=names[entry.actor] if is_named else entry.actor if trace_id is None else kind,
            actor_id=trace_id,
            actor_page="" if trace_id is None else _PAGES["trace"],
            object_page=_PAGES.get(entry.object_kind, "") if entry.object_id else "",
            details={key: _in_words(value) for key, value in with_prefixes(entry.details).items()},
        )
        lines.append(line)
    return lines


def _in_words(value: Any) -> str:
    """Return a detail as people read it: the words of a list, yes or no, and other structures as JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


def search_ledger(*, project_id: UUID, search: AuditSearch) -> QuerySet[LedgerEntry]:
    """Return the entries of a project that match, newest first."""
    rows = LedgerEntry.objects.filter(project_id=project_id)
    if search.actor:
        rows = rows.filter(Q(actor__startswith=search.actor) | Q(actor__in=actors_named(search.actor)))
    if search.verb:
        rows = rows.filter(verb="_".join(search.verb.split()))
    if search.user:
        rows = rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=search.user))
    if search.since:
        rows = rows.filter(created_at__gte=search.since)
    if search.until:
        rows = rows.filter(created_at__lt=search.until)
    return rows.order_by("-id")


@project_page(MemberRole.ADMIN)
def audit(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the entries of the ledger, newest first."""
    rows = search_ledger(project_id=visit.project.pk, search=_search_from(request))
    page = paginate(rows.select_related("end_user"), request)
    shown = {"page": page, "lines": audit_lines(page.rows), "query": request.GET}
    return render(request, "console/audit.html", shown)


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download the entries that match the filters as lines of JSON, oldest first."""
    entries = search_ledger(project_id=visit.project.pk, search=_search_from(request))
    return StreamingHttpResponse(
        export_ledger(project_id=visit.project.pk, entries=entries),
        content_type="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="ledger-{visit.project.slug}.jsonl"'},
    )


def _search_from(request: HttpRequest) -> AuditSearch:
    return AuditSearch(
        actor=query_param(request, "actor"),
        verb=query_param(request, "verb"),
        user=query_param(request, "user"),
        since=midnight(query_param(request, "since")),
        until=next_midnight(query_param(request, "until")),
    )
