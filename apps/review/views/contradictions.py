"""Contradictions and possible duplicates: two memories side by side, for a reviewer to resolve."""

from datetime import datetime
from uuid import UUID

from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_POST

from apps.common.errors import Conflict, Refused, Unfit
from apps.console.paging import identifier_of, is_part, midnight, paginate_and_open, query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.memories.models import MemoryLink
from apps.memories.querysets import MemoryLinkQuerySet
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus
from apps.pipeline.review.decisions import Validity
from apps.review.forms import Toast, parse_seen, refusal_response, toast_response
from apps.review.selectors.cases import pairs_with_comment_count
from apps.review.selectors.comparisons import (
    settled_by,
    settled_pair,
    settlement_text,
)
from apps.review.services import settle_link
from apps.review.skipping import place_among, skipped_by
from apps.review.views.cases import pair_case, with_next_case
from apps.tenants.enums import MemberRole

_HEAVY = [
    f"{side}__{field}" for side in ("from_memory", "to_memory") for field in ("terms", "context_terms", "context")
]


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
        "open_count": _pairs(project_id, "", kind).count(),
    }
    if is_part(request, "kinds"):
        return render(request, "console/_pair_tabs.html", chosen)
    rows = _pairs(project_id, words, kind, is_settled=settled)
    if not settled:  # skipped ones are last, in the order of skipping
        rows = rows.annotate(skipped=Coalesce(place_among(skipped_by(request)), 0))
        rows = rows.order_by("skipped", *rows.query.order_by)
    found, link = paginate_and_open(rows, request)
    named, why_absent = identifier_of(request.GET.get("open", "")), ""
    if link is None and named is not None:
        link, why_absent = _absent_pair(project_id, named)
        link = link or next(iter(found.rows), None)
    shown = {"page": found, "why_absent": why_absent, "is_listed": not settled}
    shown["contradiction"] = pair_case(link) if link else None
    return render(request, "console/contradictions.html", chosen | shown)


@project_page()
def contradiction(request: HttpRequest, visit: ProjectVisit, link_id: UUID) -> HttpResponse:
    """Show one pair: a part of the list, or a page of its own."""
    links = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory", "end_user")
    shown = pair_case(get_object_or_404(links, pk=link_id))
    template = "console/_contradiction.html" if is_part(request, "detail") else "console/contradiction.html"
    return render(request, template, {"contradiction": shown, "is_listed": is_part(request, "detail")})


@require_POST
@project_page(MemberRole.REVIEWER)
def settle(request: HttpRequest, visit: ProjectVisit, link_id: UUID) -> HttpResponse:
    """Resolve one pair."""
    project_id = visit.project.pk
    try:
        seen, resolution = parse_seen(request.POST.getlist("memory")), request.POST.get("resolution", "")
        if len(seen) != 2 or resolution not in set(LinkResolution):
            raise Unfit("choose which of the two to keep")
        ids = [each.memory_id for each in seen] if "dated" in request.POST else []
        decided = settle_link(
            project_id=project_id,
            link_id=link_id,
            seen=seen,
            resolution=LinkResolution(resolution),
            validity={id: Validity(_day(request, f"from-{id}"), _day(request, f"until-{id}")) for id in ids},
            changed_on=_day(request, "changed-on"),
        )
    except Conflict as conflict:
        why = settled_by(project_id=project_id, link_id=link_id) or str(conflict)
        return refusal_response(request, Conflict(why), gone=[link_id])
    except Refused as refused:
        return refusal_response(request, refused, gone=[] if isinstance(refused, Unfit) else [link_id])
    link = settled_pair(project_id=project_id, link_id=link_id)
    done = settlement_text(link) if link else ""
    answer = toast_response(request, Toast(f"{done[:1].upper()}{done[1:]}.", decided), gone=[link_id])
    return with_next_case(request, visit, answer)


def _day(request: HttpRequest, name: str) -> datetime | None:
    text = request.POST.get(name, "")
    day = midnight(text)
    if text and day is None:
        raise Unfit(f"{text!r} is not a date")
    return day


def _pairs(project_id: UUID, words: str, kind: LinkKind | None, *, is_settled: bool = False) -> MemoryLinkQuerySet:
    """Return settled pairs, latest first, or open ones: contradictions first, then oldest first."""
    rows = MemoryLink.objects.for_project(project_id)
    if is_settled:
        rows = rows.filter(status=LinkStatus.SETTLED).order_by("-settled_at", "id")
    else:
        rows = pairs_with_comment_count(rows.to_settle()).order_by("kind", "created_at", "id")
    if words:
        rows = rows.of_words(words)
    if kind is not None:
        rows = rows.filter(kind=kind)
    return rows.select_related("from_memory", "to_memory", "end_user").defer(*_HEAVY)


def _absent_pair(project_id: UUID, link_id: UUID) -> tuple[MemoryLink | None, str]:
    """Return a pair that the page of the queue does not list, and why, such as who settled it."""
    rows = MemoryLink.objects.for_project(project_id).select_related("from_memory", "to_memory", "end_user")
    link = rows.filter(pk=link_id).first()
    if link is None:
        return None, "The pair of this address does not exist any more."
    if link.status != LinkStatus.OPEN:
        return link, f"{settled_by(project_id=project_id, link_id=link_id)}."
    if not MemoryLink.objects.filter(pk=link_id).to_settle().exists():
        return link, "This pair needs no decision any more: one of the two is no longer live."
    return link, "This pair still waits for a decision, but not on this page of the list."
