"""Read the labels of the last weeks, and compute their figures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from apps.actions.evaluation.draw_samples import week_of
from apps.actions.evaluation.figures import EvaluationFigures, LabelledItem, TurnCounts, figures_by, figures_of
from apps.actions.evaluation.read_retrieval import read_retrieval
from apps.actions.evaluation.retrieval import RetrievalFigures
from apps.memories.models import EvaluationLabel, EvaluationSample
from apps.pipeline.core.enums import LabelValue, SampleKind

WEEKS = 12  # by default, the running one included
MOST_WEEKS = 104
LATEST_WEEKS = 4  # a week that was labelled longer ago says nothing about now
_COLUMNS = ("item_id", "labeller", "value", "item__sample__project_id", "item__sample__kind", "item__sample__week")
_OF_ITEM = ("item__version", "item__model", "item__memory_type")


@dataclass(slots=True)
class LabelledWeeks:
    """The labelled items of a project, and the turns of the weeks in which samples were drawn."""

    items: list[LabelledItem] = field(default_factory=list)
    counts: list[TurnCounts] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EvaluationOverview:
    """The figures of the last weeks as a whole, and by group; recall only where turns belong to a group."""

    total: EvaluationFigures
    weeks: Mapping[date, EvaluationFigures]
    versions: Mapping[int, EvaluationFigures]
    models: Mapping[str, EvaluationFigures]
    memory_types: Mapping[str, EvaluationFigures]
    retrieval: RetrievalFigures  # of the memories that were told for the first time in as many weeks, 30 days earlier


def read_figures(*, project_id: UUID, weeks: int = WEEKS) -> EvaluationOverview:
    """Compute the figures of a project over the last weeks."""
    found = labelled_weeks(since=first_week(weeks), project_id=project_id).get(project_id, LabelledWeeks())
    memories = [item for item in found.items if item.kind is SampleKind.MEMORY]
    return EvaluationOverview(
        total=figures_of(items=found.items, counts=found.counts),
        weeks=figures_by(lambda each: each.week, items=found.items, counts=found.counts),
        versions=figures_by(lambda each: each.version, items=found.items, counts=found.counts),
        models=figures_by(lambda each: each.model if isinstance(each, LabelledItem) else None, items=memories),
        memory_types=figures_by(
            lambda each: each.memory_type if isinstance(each, LabelledItem) else None, items=memories
        ),
        retrieval=read_retrieval(project_id=project_id, weeks=weeks, now=timezone.now()),
    )


def first_week(weeks: int) -> date:
    """Return the Monday of the first of the last weeks, of which the running one is the last."""
    return week_of(timezone.now()) - timedelta(weeks=weeks - 1)


def labelled_weeks(*, since: date, project_id: UUID | None = None) -> dict[UUID, LabelledWeeks]:
    """Read labels and counts since a week (two queries); of one project, or within the system scope of all."""
    samples = EvaluationSample.objects.filter(week__gte=since)
    labels = EvaluationLabel.objects.filter(item__sample__week__gte=since)
    if project_id is not None:
        samples = samples.filter(project_id=project_id)
        labels = labels.filter(item__sample__project_id=project_id)
    found: dict[UUID, LabelledWeeks] = {}
    for owner, item in _items(labels):
        found.setdefault(owner, LabelledWeeks()).items.append(item)
    for sample in _latest(samples):
        found.setdefault(sample.project_id, LabelledWeeks()).counts.extend(
            TurnCounts(week=sample.week, **each) for each in sample.counts
        )
    return found


def latest_figures(found: LabelledWeeks) -> EvaluationFigures | None:
    """Return the figures of the latest week with labels."""
    week = max((item.week for item in found.items), default=None)
    if week is None:
        return None
    return figures_of(
        items=[item for item in found.items if item.week == week],
        counts=[each for each in found.counts if each.week == week],
    )


def _items(labels: QuerySet[EvaluationLabel]) -> Sequence[tuple[UUID, LabelledItem]]:
    by_item: dict[UUID, list[dict[str, Any]]] = {}
    for row in labels.order_by("id").values(*_COLUMNS, *_OF_ITEM):
        by_item.setdefault(row["item_id"], []).append(row)
    items = []
    for rows in by_item.values():
        first = rows[0]
        item = LabelledItem(
            kind=SampleKind(first["item__sample__kind"]),
            week=first["item__sample__week"],
            labels=[(row["labeller"], LabelValue(row["value"])) for row in rows],
            version=first["item__version"],
            model=first["item__model"],
            memory_type=first["item__memory_type"],
        )
        items.append((first["item__sample__project_id"], item))
    return items


def _latest(samples: QuerySet[EvaluationSample]) -> Sequence[EvaluationSample]:
    """Return the last sample of turns of each week, which knows all of its turns that the others know."""
    rows = samples.filter(kind=SampleKind.TURN).order_by("until", "id")
    return list({(row.project_id, row.week): row for row in rows}.values())
