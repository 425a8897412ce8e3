"""Comparing configuration versions on labelled items."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST

from apps.actions.errors import Refused
from apps.actions.evaluation.versions import ComparisonRequest, compare_versions
from apps.console.paging import whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.query_params import identifier_of
from apps.console.selectors.configuration import load_comparison
from apps.pipeline.core.enums import MemberRole


@require_POST
@project_page(MemberRole.ADMIN)
def compare(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Replay the traces of labelled items under the chosen versions."""
    chosen = dict.fromkeys(whole_number(each) or 0 for each in request.POST.getlist("version"))
    wanted = ComparisonRequest(
        project_id=visit.project.pk,
        versions=tuple(chosen),
        allows_live_calls="live_calls" in request.POST,
        person_id=visit.person_id,
    )
    try:
        replays = compare_versions(request=wanted)
    except Refused as refused:
        messages.error(request, f"Nothing was compared: {refused}.")
        return redirect("console:evaluation", slug=visit.project.slug)
    query = urlencode([("replay", str(replay.pk)) for replay in replays])
    return redirect(f"{reverse('console:comparison', args=[visit.project.slug])}?{query}")


@project_page()
def comparison(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the scores of the replays named in the query."""
    named = [found for each in request.GET.getlist("replay") if (found := identifier_of(each)) is not None]
    shown = load_comparison(project_id=visit.project.pk, replay_ids=named)
    return render(request, "console/evaluation_comparison.html", {"shown": shown})
