"""Evaluation: figures of the samples, labelling from the keyboard, and comparing versions by labels."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render

from apps.common.errors import Unfit
from apps.console.labels import names_of
from apps.console.paging import identifier_of, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import download, project_action
from apps.health.selectors import TimeSeries
from apps.memories.ledger.actor import current_actor
from apps.memories.models import EvaluationItem, EvaluationLabel
from apps.pipeline.core.enums import LabelValue, MemoryType, SampleKind
from apps.retrieval.selectors import explain_turns
from apps.review.forms import edited_content, review_action
from apps.review.selectors.cases import CONTEXT_TURNS, load_evidence
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, Replay, Turn
from apps.tuning.evaluation.figures import (
    WEEKS,
    EvaluationOverview,
    Figure,
    read_figures,
    readings_of,
)
from apps.tuning.evaluation.samples import (
    draw_samples,
    export_labels,
    items_to_label,
    label_item,
    list_samples,
    remember_turn,
    start_of,
    undo_label,
)
from apps.tuning.evaluation.versions import MOST_COMPARED, JudgedCase, compare_versions, score_replay

MOST_VERSIONS = 200  # the latest


@project_page()
def evaluation(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the figures of the last weeks and the samples."""
    overview = read_figures(project_id=visit.project.pk)
    versions = list(ConfigurationVersion.objects.filter(project=visit.project).defer("policy")[:MOST_VERSIONS])
    groups = [  # weeks and versions from the latest on
        ("By week", [*overview.weeks.items()][::-1], True),
        ("By version", [*overview.versions.items()][::-1], True),
        ("By model", [*overview.models.items()], False),
        ("By type", [*overview.memory_types.items()], False),
    ]
    context = {
        "weeks": WEEKS,
        "overview": overview,
        "gauges": _gauges(overview),
        "groups": [each for each in groups if each[1]],
        "names": names_of(who for each in overview.total.agreement.values() for who in each.labellers),
        "versions": versions,
        "choices": [("Version", versions[:1]), ("with", versions[1:2] or versions[:1])],  # what is selected at first
        "samples": list_samples(project_id=visit.project.pk)[:MOST_SAMPLES],
    }
    return render(request, "console/evaluation.html", context)


@project_action(MemberRole.REVIEWER, page="evaluation", outcome="Nothing was drawn")
def draw(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Draw samples of the last seven days, and begin to label."""
    draw_samples(project_id=visit.project.pk)
    return redirect(visit.address("label-items"))


@project_page(MemberRole.REVIEWER)
def label_items(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the next item to label."""
    return _next(request, visit, template="console/evaluation_label.html")


@review_action
def label(request: HttpRequest, visit: ProjectVisit, item_id: UUID) -> HttpResponse:
    """Label an item, and show the next one."""
    value = request.POST.get("value", "")
    if value not in set(LabelValue):
        raise Unfit("choose a label")
    label_item(project_id=visit.project.pk, item_id=item_id, value=LabelValue(value))
    return _next(request, visit)


@review_action
def remember(request: HttpRequest, visit: ProjectVisit, item_id: UUID) -> HttpResponse:
    """Store what a missed turn says in the person's words, label it, and show the next item."""
    content, type_ = edited_content(request), request.POST.get("type", "")
    if not content or type_ not in set(MemoryType):
        raise Unfit("a sentence and a type are needed")
    remember_turn(project_id=visit.project.pk, item_id=item_id, content=content, type=MemoryType(type_))
    return _next(request, visit)


@review_action
def unlabel(request: HttpRequest, visit: ProjectVisit, item_id: UUID) -> HttpResponse:
    """Undo the person's label of an item, and show the item again."""
    undo_label(project_id=visit.project.pk, item_id=item_id)
    return _next(request, visit, item_id=item_id)


@project_page()
def export(request: HttpRequest, visit: ProjectVisit) -> StreamingHttpResponse:
    """Download all labels, one JSON object per line."""
    return download(export_labels(project_id=visit.project.pk), f"labels-{visit.project.slug}.jsonl")


@project_action(page="evaluation", outcome="Nothing was compared", tells_absence=True)
def compare(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Replay the traces of labelled items under the chosen versions."""
    chosen = dict.fromkeys(whole_number(each) or 0 for each in request.POST.getlist("version"))
    replays = compare_versions(
        project_id=visit.project.pk, versions=tuple(chosen), allows_live_calls="live_calls" in request.POST
    )
    return redirect(visit.address("comparison", replay=[str(replay.pk) for replay in replays]))


@project_page()
def comparison(request: HttpRequest, visit: ProjectVisit) -> HttpResponse:
    """Show the scores of the replays named in the query, side by side."""
    named = [found for each in request.GET.getlist("replay") if (found := identifier_of(each)) is not None]
    rows_by_id = Replay.objects.filter(project=visit.project, id__in=named[:MOST_COMPARED]).in_bulk()
    replays = [rows_by_id[each] for each in dict.fromkeys(named) if each in rows_by_id]
    shown = {
        "replays": replays,
        "scores": [score_replay(replay=replay) for replay in replays],
        "cases": list(JudgedCase),
        "is_over": all(replay.is_over for replay in replays),
    }
    return render(request, "console/evaluation_comparison.html", shown)


def _next(
    request: HttpRequest, visit: ProjectVisit, *, template: str = "console/_labelling.html", item_id: UUID | None = None
) -> HttpResponse:
    wanted = request.POST.get("kind", request.GET.get("kind", ""))
    only = SampleKind(wanted) if wanted in set(SampleKind) else None
    rows = items_to_label(project_id=visit.project.pk, kind=only)
    # The one named, if it still has to be labelled.
    following = (rows.filter(pk=item_id).first() if item_id else None) or rows.first()
    own = EvaluationLabel.objects.filter(item__sample__project_id=visit.project.pk, labeller=current_actor())
    shown: dict[str, Any] | None = None
    if following is not None:
        found = EvaluationItem.objects.select_related(
            "end_user", "memory__end_user", "turn__trace", "turn__session"
        ).get(end_user_id=following.end_user_id, pk=following.pk)
        shown, turn = {"item": found}, found.turn
        if found.memory is not None:
            shown["evidence"] = load_evidence(found.memory)
        elif turn is not None:  # with its neighbours, and why it gave nothing
            near = (turn.position - CONTEXT_TURNS, turn.position + CONTEXT_TURNS)
            around = Turn.objects.filter(end_user_id=turn.end_user_id, session_id=turn.session_id, position__range=near)
            shown |= {"turns": around.order_by("position"), "explanation": explain_turns([turn])[0]}
    state = {
        "shown": shown,
        "left": rows.order_by().count(),
        "last": own.order_by("-created_at").first(),  # its label can be undone
    }
    context = {"state": state, "kind": only, "kinds": list(SampleKind), "types": list(MemoryType)}
    return render(request, template, context)


MOST_SAMPLES = 20
_LABELS = {Figure.PRECISION: "Precision", Figure.RECALL: "Recall", Figure.ZERO_EXTRACTION: "Messages that gave nothing"}


def _gauges(overview: EvaluationOverview) -> list[dict[str, Any]]:
    """Return the figures that have a target, each with its course over the weeks."""
    total = overview.total
    limits = {Figure.PRECISION: total.precision, Figure.RECALL: total.recall}  # the third is counted, not estimated
    times = [int(start_of(week).timestamp()) for week in overview.weeks]
    by_week = [{each.figure: each.value for each in readings_of(figures)} for figures in overview.weeks.values()]
    gauges = []
    for reading in readings_of(total):
        name, band, values = _LABELS[reading.figure], reading.band, [week[reading.figure] for week in by_week]
        plot = TimeSeries(f"{name} by week", "percent", times, {"share": values}, (band.low, band.high))
        gauges.append({"label": name, "reading": reading, "limits": limits.get(reading.figure), "plot": plot})
    return gauges
