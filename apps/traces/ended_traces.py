"""Find out which traces have ended."""

from collections.abc import Set as AbstractSet
from uuid import UUID

from apps.pipeline.core.enums import TraceStatus
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Trace


def ended_traces(trace_ids: AbstractSet[UUID]) -> set[UUID]:
    """Return those that are no longer queued, of any project; erased ones too."""
    with system_scope(SystemWork.WAITING_CALLERS):
        queued = Trace.objects.filter(id__in=trace_ids, status=TraceStatus.QUEUED).values_list("id", flat=True)
        return set(trace_ids) - set(queued)
