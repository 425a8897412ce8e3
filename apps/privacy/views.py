"""The ledger: who did what, filtered, and as a file."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render

from apps.console.paging import midnight, next_midnight, paginate, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.ledger.chain import export_ledger
from apps.privacy.selectors import AuditSearch, audit_lines, search_ledger
from apps.tenants.enums import MemberRole


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
