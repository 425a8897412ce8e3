"""The samples of a project, and the items of one."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, QuerySet

from apps.actions.errors import NotFound
from apps.memories.models import EvaluationItem, EvaluationSample


@dataclass(frozen=True, slots=True)
class CountedSample:
    """A sample with the numbers of its items, and of those that have a label."""

    sample: EvaluationSample
    drawn: int
    labelled: int


def list_samples(*, project_id: UUID) -> QuerySet[EvaluationSample]:
    """Return the samples, newest first."""
    return EvaluationSample.objects.filter(project_id=project_id)


def counted(samples: Iterable[EvaluationSample]) -> list[CountedSample]:
    """Count the items of some samples."""
    listed = list(samples)
    rows = EvaluationItem.objects.filter(sample_id__in=[each.id for each in listed]).order_by().values("sample_id")
    found = {
        row["sample_id"]: (row["drawn"], row["labelled"])
        for row in rows.annotate(drawn=Count("id", distinct=True), labelled=Count("labels__item_id", distinct=True))
    }
    return [CountedSample(each, *found.get(each.id, (0, 0))) for each in listed]


def items_of(*, project_id: UUID, sample_id: UUID) -> QuerySet[EvaluationItem]:
    """Return the items of a sample with all that is shown of them. Raises NotFound."""
    if not EvaluationSample.objects.filter(project_id=project_id, id=sample_id).exists():
        raise NotFound("there is no such sample")
    rows = EvaluationItem.objects.filter(sample_id=sample_id)
    return rows.select_related("end_user", "memory", "turn").prefetch_related("labels")
