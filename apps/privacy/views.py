"""The ledger: who did what, filtered, and as a file."""

import json
from typing import Any

from django.db.models import Q, QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from apps.console.filters import UserAndDaysFilter, search_filter, text_filter
from apps.console.generic import ProjectListView
from apps.console.labels import actors_named, names_of
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import download
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


def _in_words(value: Any) -> str:
    """Return a detail as people read it: the words of a list, yes or no, and other structures as JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(each, str | int) for each in value):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else str(value)


class LedgerFilter(UserAndDaysFilter):
    """Entries by who acted, what was done, user and days; erased users are found as well."""

    actor = search_filter("Who: name or trace", name="Actor (a part of the name, or how it begins)", method="of_actor")
    verb = text_filter("Act, such as key created", name="Act (exact)", size=22, method="of_verb")

    class Meta:
        model = LedgerEntry
        fields = ("actor", "verb", "user", "since", "until")

    def of_actor(self, rows: QuerySet[LedgerEntry], name: str, value: str) -> QuerySet[LedgerEntry]:
        """Keep entries whose actor has this in the name, or is stored so, such as "person:" or "key:0192…"."""
        return rows.filter(Q(actor__startswith=value) | Q(actor__in=actors_named(value)))

    def of_verb(self, rows: QuerySet[LedgerEntry], name: str, value: str) -> QuerySet[LedgerEntry]:
        """Keep entries of an act as pages name it."""
        return rows.filter(verb="_".join(value.split()))


class LedgerView(ProjectListView):
    """List the entries of the ledger, newest first."""

    role = MemberRole.ADMIN
    template_name = "console/audit.html"
    queryset = LedgerEntry.objects.select_related("end_user").order_by("-id")
    filterset_class = LedgerFilter

    def get_context_data(self, **context: Any) -> dict[str, Any]:
        """Add the entries with the names of people and keys, and of the pages of their object and of the trace.

        "" is no page. At most two queries.
        """
        shown = super().get_context_data(**context)
        listed: list[LedgerEntry] = list(shown["object_list"])
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
        return shown | {"lines": lines}


@project_page(MemberRole.ADMIN)
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download the entries that match the filters as lines of JSON, oldest first."""
    rows = LedgerEntry.objects.filter(project=visit.project)
    entries = LedgerFilter(request.GET, rows, request=request).qs
    return download(export_ledger(project_id=visit.project.pk, entries=entries), f"ledger-{visit.project.slug}.jsonl")
