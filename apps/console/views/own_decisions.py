"""My decisions: what the reviewer has decided in the last days, with undo."""

from dataclasses import replace

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from apps.console.paging import paginate
from apps.console.permissions import ProjectVisit, project_page
from apps.console.review_forms import acting_person
from apps.console.selectors.own_decisions import SHOWN_FOR, load_decisions, own_decisions
from apps.pipeline.core.enums import MemberRole


@project_page(MemberRole.REVIEWER)
def decisions(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List the visitor's own decisions, latest first."""
    by = acting_person(visit)
    found = paginate(own_decisions(by=by, now=timezone.now()), request)
    page = replace(found, rows=load_decisions(found.rows, by=by))
    return render(request, "console/decisions.html", {"page": page, "days": SHOWN_FOR.days})
