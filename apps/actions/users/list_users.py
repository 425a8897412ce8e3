"""List the end users of a project with the size of what is known about them."""

from uuid import UUID

from django.db.models import Count, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce

from apps.memories.models import Memory
from apps.pipeline.core.enums import LIVE_STATUSES, values_of
from apps.tenants.models import EndUser
from apps.traces.models import Session


def list_users(*, project_id: UUID) -> QuerySet[EndUser]:
    """Return the end users that were not erased, annotated with live_memories, session_count and turn_count."""
    live = Memory.objects.filter(end_user=OuterRef("pk"), status__in=values_of(LIVE_STATUSES)).order_by()
    sessions = Session.objects.filter(end_user=OuterRef("pk")).order_by().values("end_user")
    return (
        EndUser.objects.for_project(project_id)
        .present()
        .annotate(
            live_memories=Coalesce(Subquery(live.values("end_user").annotate(rows=Count("pk")).values("rows")), 0),
            session_count=Coalesce(Subquery(sessions.annotate(rows=Count("pk")).values("rows")), 0),
            turn_count=Coalesce(Subquery(sessions.annotate(total=Sum("turn_count")).values("total")), 0),
        )
    )
