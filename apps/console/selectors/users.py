"""End users and their memories."""

from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from apps.memories.models import Memory
from apps.pipeline.core.enums import LIVE_STATUSES, values_of
from apps.tenants.models import EndUser


def end_users(*, project_id: UUID, words: str = "") -> QuerySet[EndUser]:
    """Return the end users of a project that were not erased, newest first, annotated with `live_memories`."""
    live = Memory.objects.filter(end_user=OuterRef("pk"), status__in=values_of(LIVE_STATUSES))
    counted = live.order_by().values("end_user").annotate(rows=Count("pk")).values("rows")
    rows = EndUser.objects.for_project(project_id).present()
    if words:
        rows = rows.filter(external_id__icontains=words)
    return rows.annotate(live_memories=Coalesce(Subquery(counted), 0)).order_by("-created_at", "id")


def count_by_status(*, end_user_id: UUID) -> dict[str, int]:
    """Count the memories of a user by status."""
    counted = Memory.objects.for_end_user(end_user_id).order_by().values_list("status").annotate(rows=Count("id"))
    return dict(counted)
