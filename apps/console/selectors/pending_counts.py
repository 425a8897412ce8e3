"""Counts of pending decisions and open alerts for the navigation, in one statement."""

from typing import Any
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet

from apps.alerts.models import Alert
from apps.memories.models import Memory, MemoryLink

MAX_COUNT = 1_000


def pending_counts(*, project_id: UUID) -> dict[str, int]:
    """Count pending reviews, open contradictions and open alerts up to a limit, by view name."""
    counted: dict[str, QuerySet[Any]] = {
        "review": Memory.objects.for_project(project_id).awaiting_review(),
        "contradictions": MemoryLink.objects.for_project(project_id).to_settle(),
        "alerts": Alert.objects.for_project(project_id).open(),
    }
    parts = [rows.order_by().values("pk")[:MAX_COUNT].query.sql_with_params() for rows in counted.values()]
    columns = ", ".join(f"(select count(*) from ({sql}) counted)" for sql, _ in parts)  # noqa: S608  (Django's)
    with connection.cursor() as cursor:
        cursor.execute(f"select {columns}", [value for _, values in parts for value in values])
        return dict(zip(counted, cursor.fetchone(), strict=True))
