"""Delete what is older than the retention periods of its project, in batches that commit one by one."""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Q
from django.utils import timezone
from django_q.tasks import async_task

from apps.actions.ledger.record import record
from apps.actions.ledger.remove import remove_sealed
from apps.alerts.models import Alert, AlertDelivery
from apps.pipeline.core.enums import AlertState, TraceStatus
from apps.pipeline.core.policy import RetentionPolicy
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Trace
from apps.traces.policies import active_policy

AT_ONCE = 500  # traces per transaction

# A turn that a memory quotes, or that is in a sample of evaluation, keeps its row, without its text.
_TURNS = (
    "delete from traces_turn turn where trace_id = any(%(traces)s)"
    " and not exists (select from memories_memoryorigin where turn_id = turn.id)"
    " and not exists (select from memories_evaluationitem where turn_id = turn.id)",
    "update traces_turn set content = '', speaker = '' where trace_id = any(%(traces)s) and content <> ''",
)
_MODEL_CALLS = ("delete from traces_modelcall where trace_id = any(%(traces)s)",)
# A trace that a turn or memory refers to keeps its row, with its counts.
_TRACES = (
    "delete from traces_replayedtrace where trace_id = any(%(traces)s)",
    "delete from traces_modelcall where trace_id = any(%(traces)s)",
    "delete from traces_span where trace_id = any(%(traces)s)",
    "update traces_trace set outcomes = '[]', plan = '[]', metadata = '{}', error = ''"
    " where id = any(%(traces)s) and (outcomes, plan, metadata, error) <> ('[]', '[]', '{}', '')",
    """
    delete from traces_trace trace where id = any(%(traces)s)
        and not exists (select from traces_turn where trace_id = trace.id)
        and not exists (select from memories_memory where trace_id = trace.id)
        and not exists (select from memories_memoryorigin where trace_id = trace.id)
        and not exists (select from memories_memoryversion where trace_id = trace.id)
        and not exists (select from memories_memorylink where trace_id = trace.id)
    """,
)


def apply_retention(*, most: timedelta) -> int:
    """Apply the periods of all projects; return how many rows were deleted or emptied.

    What is left when the time is up is left to another task, which is queued then.
    """
    deadline = time.monotonic() + most.total_seconds()
    changed = 0
    with system_scope(SystemWork.SCHEDULE):
        projects = list(Project.objects.values_list("id", flat=True))
    for project_id in projects:
        with tenant_scope(project_id=project_id):
            for some in _apply_to(project_id, timezone.now()):
                changed += some
                if time.monotonic() >= deadline:
                    async_task("apps.worker.tasks.apply_retention", group="retention")
                    return changed
    return changed


def _apply_to(project_id: UUID, now: datetime) -> Iterator[int]:
    """Apply the periods of one project; yield after each transaction how many rows it changed."""
    policy = active_policy(project_id=project_id).retention
    changed: dict[str, int] = {}
    for name, days, statements in _periods(policy):
        for traces in _ended_traces(project_id, before=now - timedelta(days=days)):
            some = _execute(statements, traces)
            changed[name] = changed.get(name, 0) + some
            yield some
    if policy.alert_days:
        removed = _delete_alerts(project_id, before=now - timedelta(days=policy.alert_days))
        changed["alerts"] = removed
        yield removed
    if policy.ledger_days:
        removed = remove_sealed(project_id=project_id, before=now - timedelta(days=policy.ledger_days))
        changed["ledger"] = removed
        yield removed
    if any(changed.values()):
        record(
            project_id=project_id,
            verb="retention_applied",
            object_kind="project",
            object_id=project_id,
            details={"rows": changed},
        )


def _periods(policy: RetentionPolicy) -> Iterator[tuple[str, int, Sequence[str]]]:
    periods = (
        ("turns", policy.turn_days, _TURNS),
        ("model_calls", policy.model_call_days, _MODEL_CALLS),
        ("traces", policy.trace_days, _TRACES),
    )
    return (period for period in periods if period[1])


def _delete_alerts(project_id: UUID, *, before: datetime) -> int:
    """Delete alerts that were resolved before a time, with their messages; return how many alerts."""
    over = Alert.objects.for_project(project_id).filter(state=AlertState.RESOLVED, resolved_at__lt=before)
    deleted = 0
    while ids := list(over.order_by("id").values_list("id", flat=True)[:AT_ONCE]):
        with transaction.atomic():
            AlertDelivery.objects.filter(alert_id__in=ids).delete()
            deleted += Alert.objects.filter(id__in=ids).delete()[0]
    return deleted


def _ended_traces(project_id: UUID, *, before: datetime) -> Iterator[list[UUID]]:
    """Yield the traces that were accepted before a time and have ended, in batches, oldest first."""
    rows = Trace.objects.filter(project_id=project_id, created_at__lt=before).exclude(status=TraceStatus.QUEUED)
    following = rows.order_by("created_at", "id").values_list("created_at", "id")
    while found := list(following[:AT_ONCE]):
        last_at, last_id = found[-1]
        following = following.filter(Q(created_at__gt=last_at) | Q(created_at=last_at, id__gt=last_id))
        yield [trace_id for _, trace_id in found]


def _execute(statements: Sequence[str], traces: Sequence[UUID]) -> int:
    with transaction.atomic(), connection.cursor() as cursor:
        changed = 0
        for statement in statements:
            cursor.execute(statement, {"traces": list(traces)})
            changed += cursor.rowcount
        return changed
