"""The samples of a project, and the items of one."""

from uuid import UUID

from django.db.models import Count, Q, QuerySet

from apps.actions.errors import NotFound
from apps.memories.models import EvaluationItem, EvaluationSample


def list_samples(*, project_id: UUID) -> QuerySet[EvaluationSample]:
    """Return the samples with the numbers of their items (`drawn`) and of those that have a label (`labelled`)."""
    has_label = Q(items__labels__isnull=False)
    return EvaluationSample.objects.filter(project_id=project_id).annotate(
        drawn=Count("items", distinct=True), labelled=Count("items", filter=has_label, distinct=True)
    )


def items_of(*, project_id: UUID, sample_id: UUID) -> QuerySet[EvaluationItem]:
    """Return the items of a sample with all that is shown of them. Raises NotFound."""
    if not EvaluationSample.objects.filter(project_id=project_id, id=sample_id).exists():
        raise NotFound("there is no such sample")
    rows = EvaluationItem.objects.filter(sample_id=sample_id)
    return rows.select_related("end_user", "memory", "turn").prefetch_related("labels")
