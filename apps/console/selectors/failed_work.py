"""Failed work of a project by error and by user, to be retried together."""

from collections import Counter
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import Left

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.traces.models import Trace

ERROR_CHARACTERS = 120  # of an error; errors that begin with the same text form one group
MOST_GROUPS = 20


@dataclass(frozen=True, slots=True)
class FailedGroup:
    """Failed work with the same error or of the same user."""

    name: str
    count: int


@dataclass(frozen=True, slots=True)
class FailedWork:
    """Failed work: dead outbox rows, and traces with a failed extraction."""

    total: int
    by_error: list[FailedGroup]
    by_user: list[FailedGroup]


def failed_work(*, project_id: UUID) -> FailedWork:
    """Count failed work, the largest groups first, from partial indexes."""
    dead = OutboxRow.objects.filter(project_id=project_id, state=WorkState.DEAD)
    failed = Trace.objects.filter(project_id=project_id, status=TraceStatus.EXTRACTION_FAILED)
    errors = _counted(
        dead.annotate(name=Left("last_error", ERROR_CHARACTERS)), failed.annotate(name=Left("error", ERROR_CHARACTERS))
    )
    users = _counted(*(rows.values("end_user__external_id") for rows in (dead, failed)), name="end_user__external_id")
    return FailedWork(total=sum(errors.values()), by_error=_largest(errors), by_user=_largest(users))


def _counted(*queries: Any, name: str = "name") -> Counter[str]:
    counted: Counter[str] = Counter()
    for rows in queries:
        counted.update(dict(rows.order_by().values_list(name).annotate(count=Count("pk"))))
    return counted


def _largest(counted: Counter[str]) -> list[FailedGroup]:
    return [FailedGroup(name, count) for name, count in counted.most_common(MOST_GROUPS)]
