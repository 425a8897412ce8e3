"""Evaluation: figures of the samples, and labelling from the keyboard."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from apps.common.errors import Refused, Unfit
from apps.console.paging import query_param
from apps.console.permissions import ProjectVisit, project_page
from apps.pipeline.core.enums import LabelValue, MemoryType, SampleKind
from apps.review.forms import edited_content, refusal_response
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion
from apps.tuning.evaluation.figures import WEEKS, read_figures
from apps.tuning.evaluation.samples import (
    DrawRequest,
    Labeller,
    draw_samples,
    export_labels,
    label_item,
    remember_turn,
    undo_label,
)
from apps.tuning.selectors import evaluation as selectors
from apps.tuning.selectors.configuration import version_choices
from apps.tuning.selectors.evaluation import labelling_state

MOST_VERSIONS = 200  # the latest


@project_page()
def evaluation(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the figures of the last weeks and the samples."""
    overview = read_figures(project_id=visit.project.pk)
    versions = ConfigurationVersion.objects.filter(project=visit.project).defer("policy")[:MOST_VERSIONS]
    context = {
        "weeks": WEEKS,
        "gauges": selectors.gauges_of(overview),
        "groups": selectors.groups_of(overview),
        "failures": selectors.failures_of(overview),
        "agreements": selectors.agreements_of(overview),
        "versions": versions,
        "choices": version_choices(versions),
        "retrieval": overview.retrieval,
        "retrieval_limits": selectors.limits_of(overview.retrieval.precision),
        "samples": selectors.latest_samples(project_id=visit.project.pk),
    }
    return render(request, "console/evaluation.html", context)


@require_POST
@project_page(MemberRole.REVIEWER)
def draw(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Draw samples of the last seven days, and begin to label."""
    try:
        draw_samples(request=DrawRequest(visit.project.pk))
    except Refused as refused:
        messages.error(request, f"Nothing was drawn: {refused}.")
        return redirect("console:evaluation", slug=visit.project.slug)
    return redirect("console:label-items", slug=visit.project.slug)


@project_page(MemberRole.REVIEWER)
def label_items(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the next item to label."""
    return _next(request, visit, template="console/evaluation_label.html", kind=query_param(request, "kind"))


@require_POST
@project_page(MemberRole.REVIEWER)
def label(request: HttpRequest, visit: ProjectVisit, item_id: UUID) -> HttpResponse:
    """Label an item, and show the next one."""
    value = request.POST.get("value", "")
    try:
        if value not in set(LabelValue):
            raise Unfit("choose a label")
        label_item(by=_labeller(visit), item_id=item_id, value=LabelValue(value))
    except Refused as refused:
        return refusal_response(request, refused)
    return _next(request, visit)


@require_POST
@project_page(MemberRole.REVIEWER)
def remember(request: HttpRequest, visit: ProjectVisit, item_id: UUID) -> HttpResponse:
    """Store what a missed turn says in the person's words, label it, and show the next item."""
    type_ = request.POST.get("type", "")
    try:
        content = edited_content(request)
        if not content or type_ not in set(MemoryType):
            raise Unfit("a sentence and a type are needed")
        remember_turn(by=_labeller(visit), item_id=item_id, content=content, type=MemoryType(type_))
    except Refused as refused:
        return refusal_response(request, refused)
    return _next(request, visit)


@require_POST
@project_page(MemberRole.REVIEWER)
def unlabel(request: HttpRequest, visit: ProjectVisit, item_id: UUID) -> HttpResponse:
    """Undo the person's label of an item, and show the item again."""
    try:
        undo_label(by=_labeller(visit), item_id=item_id)
    except Refused as refused:
        return refusal_response(request, refused)
    return _next(request, visit, item_id=item_id)


@project_page()
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download all labels, one JSON object per line."""
    return StreamingHttpResponse(
        export_labels(project_id=visit.project.pk),
        content_type="application/jsonl",
        headers={"Content-Disposition": f'attachment; filename="labels-{visit.project.slug}.jsonl"'},
    )


def _next(
    request: HttpRequest,
    visit: ProjectVisit,
    *,
    template: str = "console/_labelling.html",
    kind: str | None = None,
    item_id: UUID | None = None,
) -> HttpResponse:
    wanted = request.POST.get("kind", "") if kind is None else kind
    only = SampleKind(wanted) if wanted in set(SampleKind) else None
    state = labelling_state(project_id=visit.project.pk, labeller=_labeller(visit).name, kind=only, item_id=item_id)
    context = {"state": state, "kind": only, "kinds": list(SampleKind), "types": list(MemoryType)}
    return render(request, template, context)


def _labeller(visit: ProjectVisit) -> Labeller:
    return Labeller(visit.project.pk, person_id=visit.person_id)
