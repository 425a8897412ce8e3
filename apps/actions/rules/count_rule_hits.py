"""Count how often each pre-filter rule has dropped a turn; in the request, the rows of rules would be a bottleneck."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import F, Value
from django.db.models.functions import Greatest

from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import PreFilterRule, Turn

BATCH = 5_000  # turns per statement, so that no statement runs long after a busy hour


def count_rule_hits() -> int:
    """Add each dropped turn to its rule's count exactly once; return how many turns were counted.

    Hits that were not counted before their rule was renamed or deleted are lost.
    """
    counted = 0
    while marked := _count_some():
        counted += marked
    return counted


def _count_some() -> int:
    """Mark and count up to BATCH turns; those that another process is counting are left to it."""
    with system_scope(SystemWork.SCHEDULE), transaction.atomic():
        dropped = Turn.objects.filter(hit_counted=False).exclude(rejected_by="").order_by("received_at")
        fresh = dropped.select_for_update(no_key=True, skip_locked=True, of=("self",))
        rows = list(fresh.values_list("id", "end_user__project_id", "rejected_by", "received_at")[:BATCH])
        hits: dict[tuple[UUID, str], list[datetime]] = {}
        for _, project_id, rule, received_at in rows:
            hits.setdefault((project_id, rule), []).append(received_at)
        Turn.objects.filter(id__in=[turn_id for turn_id, *_ in rows]).update(hit_counted=True)
        for (project_id, rule), moments in sorted(hits.items()):
            PreFilterRule.objects.filter(project_id=project_id, name=rule).update(
                hit_count=F("hit_count") + len(moments), last_hit_at=Greatest("last_hit_at", Value(max(moments)))
            )
    return len(rows)
