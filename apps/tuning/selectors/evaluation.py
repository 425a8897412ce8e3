"""Figures of evaluation, and the item that is labelled next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from apps.console.labels import label, names_of, percent
from apps.health.selectors import TimeSeries
from apps.memories.models import EvaluationItem, EvaluationLabel
from apps.pipeline.core.enums import SampleKind
from apps.review.selectors.cases import CONTEXT_TURNS, EvidenceTurns, load_evidence
from apps.search.selectors.explanations import TurnExplanation, explain_turns
from apps.traces.funnel_metrics import Band, RatioHealth
from apps.traces.models import Turn
from apps.tuning.evaluation.figures import (
    TARGETS,
    EvaluationFigures,
    EvaluationOverview,
    Figure,
    RecallEstimate,
    readings_of,
)
from apps.tuning.evaluation.samples import CountedSample, Share, counted, items_to_label, list_samples, start_of


@dataclass(frozen=True, slots=True)
class ItemToLabel:
    """An item with its surroundings: the quotes of a memory, or the neighbours of a turn and why it gave nothing."""

    item: EvaluationItem
    evidence: tuple[EvidenceTurns, ...] = ()
    turns: tuple[Turn, ...] = ()
    explanation: TurnExplanation | None = None


@dataclass(frozen=True, slots=True)
class LabellingState:
    """The item that is shown, how many are left for the labeller, and the one whose label can be undone."""

    shown: ItemToLabel | None
    left: int
    last: EvaluationLabel | None


def labelling_state(
    *, project_id: UUID, labeller: str, kind: SampleKind | None, item_id: UUID | None = None
) -> LabellingState:
    """Load the next item of a labeller, or the one named if it still has to be labelled."""
    rows = items_to_label(project_id=project_id, labeller=labeller, kind=kind)
    named = rows.filter(pk=item_id).first() if item_id else None
    following = named or rows.first()
    own = EvaluationLabel.objects.filter(item__sample__project_id=project_id, labeller=labeller)
    return LabellingState(
        shown=_loaded(following) if following else None,
        left=rows.order_by().count(),
        last=own.order_by("-created_at").first(),
    )


def _loaded(item: EvaluationItem) -> ItemToLabel:
    rows = EvaluationItem.objects.select_related("end_user", "memory__end_user", "turn__trace", "turn__session")
    found = rows.get(end_user_id=item.end_user_id, pk=item.pk)
    if found.memory is not None:
        return ItemToLabel(found, evidence=load_evidence(found.memory))
    turn = found.turn
    if turn is None:
        return ItemToLabel(found)
    positions = (turn.position - CONTEXT_TURNS, turn.position + CONTEXT_TURNS)
    around = Turn.objects.filter(end_user_id=turn.end_user_id, session_id=turn.session_id, position__range=positions)
    return ItemToLabel(found, turns=tuple(around.order_by("position")), explanation=explain_turns([turn])[0])


MOST_SAMPLES = 20
_LABELS = {Figure.PRECISION: "Precision", Figure.RECALL: "Recall", Figure.ZERO_EXTRACTION: "Messages that gave nothing"}
_KINDS = {SampleKind.MEMORY: "memories", SampleKind.TURN: "turns"}


@dataclass(frozen=True, slots=True)
class FigureGauge:
    """A figure with its limits, its target and its course over the weeks."""

    label: str
    value: float | None
    limits: str  # of 95 % confidence; empty where the figure is counted, not estimated
    basis: str  # what it was computed from
    health: RatioHealth
    band: Band
    plot: TimeSeries


@dataclass(frozen=True, slots=True)
class GroupRow:
    """The figures of one week, version, model or memory type."""

    name: str
    precision: str
    memories: int
    recall: str
    turns: int


@dataclass(frozen=True, slots=True)
class FigureGroups:
    """A table of groups."""

    label: str
    rows: tuple[GroupRow, ...]
    has_recall: bool


@dataclass(frozen=True, slots=True)
class ShownAgreement:
    """How far two labellers agree about one kind of item."""

    kind: str
    labellers: str
    items: int
    kappa: float | None


def gauges_of(overview: EvaluationOverview) -> list[FigureGauge]:
    """Return the figures that have a target."""
    total, zero = overview.total, overview.total.zero_extraction
    limits = {Figure.PRECISION: limits_of(total.precision), Figure.RECALL: limits_of(total.recall)}
    told = {
        Figure.PRECISION: f"{total.precision.part:.0f} of {total.precision.whole:.0f} memories are good",
        Figure.RECALL: f"about {total.recall.found:.0f} turns found, {total.recall.missed:.0f} missed",
        Figure.ZERO_EXTRACTION: f"{zero.part:.0f} of {zero.whole:.0f} turns gave nothing",
    }
    return [
        FigureGauge(
            label=_LABELS[reading.figure],
            value=reading.value,
            limits=limits.get(reading.figure, ""),
            basis=told[reading.figure],
            health=reading.health,
            band=TARGETS[reading.figure],
            plot=_over_weeks(reading.figure, overview.weeks),
        )
        for reading in readings_of(total)
    ]


def limits_of(figure: Share | RecallEstimate) -> str:
    """Return the limits of a figure as text; empty if nothing is known."""
    return f"{percent(figure.low)} to {percent(figure.high)}" if figure.low is not None else ""


def groups_of(overview: EvaluationOverview) -> list[FigureGroups]:
    """Return the tables of the page, those that have rows."""
    tables = [
        FigureGroups("By week", _rows(overview.weeks), has_recall=True),
        FigureGroups("By version", _rows(overview.versions), has_recall=True),
        FigureGroups("By model", _rows(overview.models), has_recall=False),
        FigureGroups("By type", _rows(overview.memory_types), has_recall=False),
    ]
    return [table for table in tables if table.rows]


def failures_of(overview: EvaluationOverview) -> list[tuple[str, int]]:
    """Return what is wrong with memories that are not good, with the number of memories."""
    return [(label(value), count) for value, count in overview.total.failures.items()]


def agreements_of(overview: EvaluationOverview) -> list[ShownAgreement]:
    """Return how far labellers agree, with their names."""
    found = overview.total.agreement
    names = names_of(who for each in found.values() for who in each.labellers)
    return [
        ShownAgreement(_KINDS[kind], " and ".join(names[who] for who in each.labellers), each.items, each.kappa)
        for kind, each in found.items()
    ]


def latest_samples(*, project_id: UUID) -> Sequence[CountedSample]:
    """Return the latest samples, newest first."""
    return counted(list_samples(project_id=project_id)[:MOST_SAMPLES])


def _over_weeks(figure: Figure, weeks: Mapping[date, EvaluationFigures]) -> TimeSeries:
    values: list[float | None] = [
        next(each.value for each in readings_of(figures) if each.figure is figure) for figures in weeks.values()
    ]
    band = TARGETS[figure]
    times = [int(start_of(week).timestamp()) for week in weeks]
    return TimeSeries(f"{_LABELS[figure]} by week", "percent", times, {"share": values}, (band.low, band.high))


def _rows(groups: Mapping[Any, EvaluationFigures]) -> tuple[GroupRow, ...]:
    """Return a row for each group: weeks and versions from the latest on, names in their order."""
    found = list(groups.items())
    if found and not isinstance(found[0][0], str):
        found.reverse()
    return tuple(
        GroupRow(
            name=str(group),
            precision=_with_limits(figures.precision),
            memories=int(figures.precision.whole),
            recall=_with_limits(figures.recall),
            turns=int(figures.missed.whole),
        )
        for group, figures in found
    )


def _with_limits(figure: Share | RecallEstimate) -> str:
    if figure.low is None or figure.high is None:
        return "–"
    return f"{percent(figure.value)} ({100 * figure.low:.0f}–{100 * figure.high:.0f})"
