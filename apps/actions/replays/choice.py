"""Which traces are replayed."""

import random
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.actions.errors import Unfit
from apps.pipeline.core.identifiers import end_user_id
from apps.traces.models import Trace
from apps.traces.run_heads import ENDED

MOST_TRACES = 100_000


@dataclass(frozen=True, slots=True)
class TraceChoice:
    """Ended traces of a project; all filters that are given have to fit, and a sample is drawn of what is left."""

    user_id: str = ""
    session_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    trace_ids: tuple[UUID, ...] = ()
    sample: int = 0  # 0: all of them

    def as_json(self, *, project_id: UUID) -> dict[str, Any]:
        """Return the filters that were given, and by `end_user` whom an erasure has to remove from them."""
        times = {name: value.isoformat() for name in ("since", "until") if (value := getattr(self, name))}
        named = {name: getattr(self, name) for name in ("user_id", "session_id", "sample") if getattr(self, name)}
        traces = {"trace_ids": [str(each) for each in self.trace_ids]} if self.trace_ids else {}
        user = end_user_id(project_id=project_id, user_id=self.user_id) if self.user_id else None
        return {**named, **times, **traces, **({"end_user": str(user)} if user else {})}


def chosen_traces(*, project_id: UUID, choice: TraceChoice) -> dict[UUID, list[UUID]]:
    """Return the chosen traces by end user. Raises Unfit if there are none, or too many."""
    if choice.session_id and not choice.user_id:
        raise Unfit("is required with a session", at="/traces/user_id")
    rows = list(_filtered(project_id, choice).values_list("end_user_id", "id")[: MOST_TRACES + 1])
    if len(rows) > MOST_TRACES:
        raise Unfit(f"more than {MOST_TRACES:,} traces; choose a shorter time or a sample", at="/traces")
    if not rows:
        raise Unfit("no trace that has ended fits", at="/traces")
    if choice.sample and choice.sample < len(rows):
        rows = random.sample(rows, choice.sample)
    found: dict[UUID, list[UUID]] = {}
    for user, trace in rows:
        found.setdefault(user, []).append(trace)
    return found


def _filtered(project_id: UUID, choice: TraceChoice) -> QuerySet[Trace]:
    rows = Trace.objects.filter(project_id=project_id, status__in=ENDED).order_by("id")
    if choice.user_id:
        rows = rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=choice.user_id))
    if choice.session_id:
        rows = rows.filter(session__external_id=choice.session_id)
    if choice.since:
        rows = rows.filter(created_at__gte=choice.since)
    if choice.until:
        rows = rows.filter(created_at__lte=choice.until)
    return rows.filter(id__in=choice.trace_ids) if choice.trace_ids else rows
