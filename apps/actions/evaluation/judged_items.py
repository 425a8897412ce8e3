"""The labelled items of the last weeks with the traces that they come from."""

from dataclasses import dataclass
from uuid import UUID

from apps.actions.evaluation.comparison import JudgedItem
from apps.actions.evaluation.figures import LabelledItem
from apps.actions.evaluation.read_figures import first_week
from apps.memories.models import EvaluationItem
from apps.pipeline.core.enums import LabelValue


@dataclass(frozen=True, slots=True)
class TracedItem:
    """A labelled item and the trace that stored the memory, or that the turn belongs to."""

    item: JudgedItem
    trace_id: UUID


def judged_items(*, project_id: UUID, weeks: int) -> list[TracedItem]:
    """Return the items that labellers could judge; memories that callers stored directly have no trace."""
    rows = EvaluationItem.objects.filter(sample__project_id=project_id, sample__week__gte=first_week(weeks))
    labelled = rows.filter(labels__isnull=False).distinct()
    judged = []
    for row in labelled.select_related("sample", "memory", "turn").prefetch_related("labels"):
        thing = row.memory or row.turn
        labels = [(label.labeller, LabelValue(label.value)) for label in row.labels.all()]
        is_good = LabelledItem(kind=row.kind, week=row.sample.week, labels=labels).is_good
        if thing is not None and thing.trace_id is not None and is_good is not None:
            judged.append(TracedItem(JudgedItem(row.kind, is_good, str(thing.pk)), thing.trace_id))
    return judged
