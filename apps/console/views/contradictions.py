"""Contradictions: two memories side by side, until a person has settled which is true."""

from datetime import UTC, datetime
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused, Unfit
from apps.actions.review import settle_link as settling
from apps.actions.review.settle_link import Settlement, Validity
from apps.console.deciding import Told, person_of, refuse, row_id, seen_in, tell
from apps.console.paging import page_of
from apps.console.permissions import Visit, page
from apps.console.selectors.pairs import pair_of, to_settle
from apps.memories.models import MemoryLink
from apps.pipeline.core.enums import LinkResolution, MemberRole

_SAID = {
    LinkResolution.KEPT_FROM: "A is kept, B rejected.",
    LinkResolution.KEPT_TO: "B is kept, A rejected.",
    LinkResolution.BOTH: "Both are kept.",
    LinkResolution.MERGED: "A is merged into B.",
}


@page()
def contradictions(request: HttpRequest, visit: Visit) -> HttpResponse:
    """List what is to be settled, with the first one open."""
    words = request.GET.get("q", "").strip()
    found = page_of(to_settle(project_id=visit.project.pk, words=words), request)
    pair = pair_of(found.rows[0], now=timezone.now()) if found.rows else None
    return render(request, "console/contradictions.html", {"page": found, "words": words, "pair": pair})


@page()
def contradiction(request: HttpRequest, visit: Visit, link_id: UUID) -> HttpResponse:
    """Show one pair."""
    links = MemoryLink.objects.for_project(visit.project.pk).select_related("from_memory", "to_memory", "end_user")
    pair = pair_of(get_object_or_404(links, pk=link_id), now=timezone.now())
    return render(request, "console/_pair.html", {"pair": pair})


@require_POST
@page(MemberRole.REVIEWER)
def settle(request: HttpRequest, visit: Visit, link_id: UUID) -> HttpResponse:
    """Settle one pair."""
    row = row_id(link_id)
    try:
        settlement = _settlement(request, link_id)
        decided = settling.settle_link(by=person_of(visit), settlement=settlement)
    except Unfit as unfit:
        return refuse(request, unfit)
    except Refused as refused:
        return refuse(request, refused, gone=[row])
    return tell(request, Told(_SAID[settlement.resolution], decided), gone=[row])


def _settlement(request: HttpRequest, link_id: UUID) -> Settlement:
    seen, resolution = seen_in(request.POST.getlist("memory")), request.POST.get("resolution", "")
    if len(seen) != 2 or resolution not in set(LinkResolution):
        raise Unfit("say which of the two is kept")
    validity = {each.memory_id: _validity(request, each.memory_id) for each in seen if "dated" in request.POST}
    return Settlement(
        link_id=link_id,
        resolution=LinkResolution(resolution),
        from_seen=seen[0],
        to_seen=seen[1],
        validity=validity,
    )


def _validity(request: HttpRequest, memory_id: UUID) -> Validity:
    return Validity(begins=_day(request, f"from-{memory_id}"), ends=_day(request, f"until-{memory_id}"))


def _day(request: HttpRequest, name: str) -> datetime | None:
    text = request.POST.get(name, "")
    try:
        day = parse_date(text) if text else None
    except ValueError as error:
        raise Unfit(f"{text!r} is no day") from error
    if text and day is None:
        raise Unfit(f"{text!r} is no day")
    return datetime(day.year, day.month, day.day, tzinfo=UTC) if day else None
