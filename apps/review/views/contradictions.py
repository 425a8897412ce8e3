"""Contradictions and possible duplicates: two memories side by side, for a reviewer to resolve."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_POST

from apps.common.errors import Conflict, Refused, Unfit
from apps.console.paging import identifier_of, is_detail, is_part, paginate_and_open, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.models import MemoryLink
from apps.pipeline.core.enums import LinkKind, LinkResolution
from apps.pipeline.review.decisions import Validity
from apps.review import services as settling
from apps.review.forms import Toast, acting_person, parse_seen, refusal_response, row_id, toast_response
from apps.review.selectors.comparisons import settled_by, settled_pair, settlement_text
from apps.review.selectors.pairs import load_contradiction, open_pairs, settled_pairs, skipped_last
from apps.review.selectors.review import absent_pair
from apps.review.services import Settlement
from apps.review.skipping import skipped_by
from apps.tenants.enums import MemberRole


@project_page()
def contradictions(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """List open or settled pairs and show one of them."""
    words, name, settled = query_param(request, "q"), query_param(request, "kind"), "settled" in request.GET
    kind, project_id = LinkKind(name) if name in set(LinkKind) else None, visit.project.pk
    chosen = {
        "words": words,
        "kind": kind,
        "settled": settled,
        "heading": "The same?" if kind is LinkKind.POSSIBLE_DUPLICATE else "Which one?",
        "open_count": open_pairs(project_id=project_id, kind=kind).count(),
    }
    if is_part(request, "kinds"):
        return render(request, "console/_pair_tabs.html", chosen)
    if settled:
        rows = settled_pairs(project_id=project_id, words=words, kind=kind)
    else:
        rows = open_pairs(project_id=project_id, words=words, kind=kind)
        rows = skipped_last(rows, skipped_by(request))
    found, link = paginate_and_open(rows, request)
    named, absent = identifier_of(request.GET.get("open", "")), None
    if link is None and named is not None:
        absent = absent_pair(project_id=visit.project.pk, link_id=named)
        link = absent.link or next(iter(found.rows), None)
    opened = load_contradiction(link, now=timezone.now()) if link else None
    shown: dict[str, Any] = {"page": found, "absent": absent, "is_listed": not settled, "contradiction": opened}
    return render(request, "console/contradictions.html", chosen | shown)


@project_page()
def contradiction(request: HttpRequest, visit: ProjectVisit, link_id: UUID) -> HttpResponse:
    """Show one pair: a part of the list, or a page of its own."""
    links = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory", "end_user")
    shown = load_contradiction(get_object_or_404(links, pk=link_id), now=timezone.now())
    template = "console/_contradiction.html" if is_detail(request) else "console/contradiction.html"
    return render(request, template, {"contradiction": shown, "is_listed": is_detail(request)})


@require_POST
@project_page(MemberRole.REVIEWER)
def settle(request: HttpRequest, visit: ProjectVisit, link_id: UUID) -> HttpResponse:
    """Resolve one pair."""
    row = row_id(link_id)
    try:
        settlement = _settlement(request, link_id)
        decided = settling.settle_link(by=acting_person(visit), settlement=settlement)
    except Conflict as conflict:
        return refusal_response(
            request, Conflict(settled_by(project_id=visit.project.pk, link_id=link_id) or str(conflict)), gone=[row]
        )
    except Unfit as unfit:
        return refusal_response(request, unfit)
    except Refused as refused:
        return refusal_response(request, refused, gone=[row])
    link = settled_pair(project_id=visit.project.pk, link_id=link_id)
    done = settlement_text(link) if link else ""
    return toast_response(request, Toast(f"{done[:1].upper()}{done[1:]}.", decided), gone=[row])


def _settlement(request: HttpRequest, link_id: UUID) -> Settlement:
    seen, resolution = parse_seen(request.POST.getlist("memory")), request.POST.get("resolution", "")
    if len(seen) != 2 or resolution not in set(LinkResolution):
        raise Unfit("choose which of the two to keep")
    ids = [each.memory_id for each in seen] if "dated" in request.POST else []
    validity = {id: Validity(begins=_day(request, f"from-{id}"), ends=_day(request, f"until-{id}")) for id in ids}
    return Settlement(
        link_id=link_id,
        resolution=LinkResolution(resolution),
        from_seen=seen[0],
        to_seen=seen[1],
        validity=validity,
        changed_on=_day(request, "changed-on"),
    )


def _day(request: HttpRequest, name: str) -> datetime | None:
    text = request.POST.get(name, "")
    try:
        day = parse_date(text) if text else None
    except ValueError as error:
        raise Unfit(f"{text!r} is not a date") from error
    if text and day is None:
        raise Unfit(f"{text!r} is not a date")
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
