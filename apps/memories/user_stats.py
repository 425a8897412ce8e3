"""Numbers of what is known about one end user, in three statements."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.db.models import Count, Max, Min, Sum

from apps.memories.models import Memory
from apps.pipeline.core.enums import LIVE_STATUSES
from apps.traces.models import Session

MOST_AGENTS = 100


def user_stats(*, end_user_id: UUID) -> dict[str, Any]:
    """Count the memories of an end user by status, and the live ones by type and by the agent that told them first."""
    memories = Memory.objects.for_end_user(end_user_id).order_by()
    kinds = list(
        memories.values_list("status", "type").annotate(rows=Count("pk"), first=Min("said_at"), last=Max("said_at"))
    )
    shown = [row for row in kinds if row[0] in LIVE_STATUSES]
    by_status, by_type = Counter[str](), Counter[str]()
    for status, _, rows, *_ in kinds:
        by_status[status] += rows
    for _, kind, rows, *_ in shown:
        by_type[kind] += rows
    agents = memories.live().exclude(agent_id="").values_list("agent_id").annotate(rows=Count("pk"))
    sessions = Session.objects.filter(end_user_id=end_user_id).aggregate(
        sessions=Count("pk"), turns=Sum("turn_count"), last=Max("last_turn_at")
    )
    return {
        "by_status": dict(sorted(by_status.items())),
        "by_type": dict(sorted(by_type.items())),
        "by_agent": dict(agents.order_by("-rows", "agent_id")[:MOST_AGENTS]),
        "sessions": sessions["sessions"],
        "turns": sessions["turns"] or 0,
        "first_said_at": min((first for *_, first, _ in shown), default=None),
        "last_said_at": max((last for *_, last in shown), default=None),
        "last_turn_at": sessions["last"],
    }
