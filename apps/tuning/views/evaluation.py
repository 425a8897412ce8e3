"""Evaluation: figures of the samples, labelling from the keyboard, and comparing versions by labels."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render

from apps.common.errors import Unfit
from apps.console.labels import names_of, percent
from apps.console.paging import identifier_of, whole_number
from apps.console.permissions import ProjectVisit, project_page
from apps.console.shortcuts import download, project_action
from apps.health.selectors import TimeSeries
from apps.memories.ledger.actor import current_actor
from apps.memories.models import EvaluationItem, EvaluationLabel
from apps.pipeline.core.enums import LabelValue, MemoryType, SampleKind
from apps.review.forms import edited_content, review_action
from apps.review.selectors.cases import CONTEXT_TURNS, load_evidence
from apps.search.selectors.explanations import explain_turns
from apps.tenants.enums import MemberRole
from apps.traces.models import ConfigurationVersion, Replay, Turn
from apps.tuning.evaluation.figures import (
    TARGETS,
    WEEKS,
    EvaluationFigures,
    EvaluationOverview,
    Figure,
    RecallEstimate,
    Share,
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
    groups = [
        {"label": "By week", "rows": _rows(overview.weeks), "has_recall": True},
        {"label": "By version", "rows": _rows(overview.versions), "has_recall": True},
        {"label": "By model", "rows": _rows(overview.models), "has_recall": False},
        {"label": "By type", "rows": _rows(overview.memory_types), "has_recall": False},
    ]
    context = {
        "weeks": WEEKS,
        "gauges": _gauges(overview),
        "groups": [each for each in groups if each["rows"]],
        "failures": overview.total.failures,
        "agreements": overview.total.agreement,
        "names": names_of(who for each in overview.total.agreement.values() for who in each.labellers),
        "versions": versions,
        "choices": [("Version", versions[:1]), ("with", versions[1:2] or versions[:1])],  # what is selected at first
        "retrieval": overview.retrieval,
        "retrieval_limits": _limits(overview.retrieval.precision),
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
    scores = [score_replay(replay=replay) for replay in replays]
    rows: list[tuple[str, list[str]]] = []
    for case in JudgedCase:
        shares = [score.shares[case] for score in scores]
        told = [
            f"{each.part:.0f} of {each.whole:.0f} ({percent(each.value)})" if each.whole else "–" for each in shares
        ]
        rows.append((case.capitalize(), told))
    rows.append(("Items not replayed", [str(score.not_replayed) for score in scores]))
    shown = {"replays": replays, "rows": rows, "is_over": all(replay.is_over for replay in replays)}
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
    """Return the figures that have a target."""
    total, zero = overview.total, overview.total.zero_extraction
    limits = {Figure.PRECISION: _limits(total.precision), Figure.RECALL: _limits(total.recall)}
    told = {
        Figure.PRECISION: f"{total.precision.part:.0f} of {total.precision.whole:.0f} memories are good",
        Figure.RECALL: f"about {total.recall.found:.0f} turns found, {total.recall.missed:.0f} missed",
        Figure.ZERO_EXTRACTION: f"{zero.part:.0f} of {zero.whole:.0f} turns gave nothing",
    }
    times = [int(start_of(week).timestamp()) for week in overview.weeks]
    by_week = [{each.figure: each.value for each in readings_of(figures)} for figures in overview.weeks.values()]
    gauges: list[dict[str, Any]] = []
    for reading in readings_of(total):
        name, band = _LABELS[reading.figure], TARGETS[reading.figure]
        values = [week[reading.figure] for week in by_week]
        gauges.append(
            {
                "label": name,
                "value": reading.value,
                "limits": limits.get(reading.figure, ""),  # none where the figure is counted, not estimated
                "basis": told[reading.figure],
                "health": reading.health,
                "band": band,
                "plot": TimeSeries(f"{name} by week", "percent", times, {"share": values}, (band.low, band.high)),
            }
        )
    return gauges


def _limits(figure: Share | RecallEstimate) -> str:
    """Return the limits of a figure as text; empty if nothing is known."""
    return f"{percent(figure.low)} to {percent(figure.high)}" if figure.low is not None else ""


def _rows(groups: Mapping[Any, EvaluationFigures]) -> list[dict[str, Any]]:
    """Return a row for each group: weeks and versions from the latest on, names in their order."""
    found = list(groups.items())
    if found and not isinstance(found[0][0], str):
        found.reverse()
    return [
        {
            "name": str(group),
            "precision": _with_limits(figures.precision),
            "memories": int(figures.precision.whole),
            "recall": _with_limits(figures.recall),
            "turns": int(figures.missed.whole),
        }
        for group, figures in found
    ]


def _with_limits(figure: Share | RecallEstimate) -> str:
    if figure.low is None or figure.high is None:
        return "–"
    return f"{percent(figure.value)} ({100 * figure.low:.0f}–{100 * figure.high:.0f})"
