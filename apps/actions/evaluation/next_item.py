"""Which item a labeller is shown next."""

from uuid import UUID

from django.db.models import Case, Exists, IntegerField, OuterRef, QuerySet, Value, When

from apps.memories.models import EvaluationItem, EvaluationLabel
from apps.pipeline.core.enums import SampleKind

SHARED = 20  # items of each sample that every labeller is asked about, to see how far they agree


def items_to_label(*, project_id: UUID, labeller: str, kind: SampleKind | None = None) -> QuerySet[EvaluationItem]:
    """Return the items that the labeller has not labelled, in the order in which they should be.

    First the items of each sample that all labellers share, then those that nobody has labelled, then the rest; the
    newest week first, and memories before turns. Turns whose text is gone are left out.
    """
    labels = EvaluationLabel.objects.filter(end_user=OuterRef("end_user"), item=OuterRef("pk"))
    rows = EvaluationItem.objects.filter(~Exists(labels.filter(labeller=labeller)), sample__project_id=project_id)
    if kind is not None:
        rows = rows.filter(sample__kind=kind)
    rank = Case(
        When(position__lt=SHARED, then=Value(0)),
        When(Exists(labels), then=Value(2)),
        default=Value(1),
        output_field=IntegerField(),
    )
    ordered = rows.exclude(turn__content="").annotate(rank=rank)
    return ordered.order_by("rank", "-sample__week", "sample__kind", "-sample_id", "position")
