"""Delete what is older than the retention periods of its project, in batches that commit one by one."""

from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from apps.alerts.enums import AlertState
from apps.alerts.models import Alert, AlertDelivery
from apps.memories.ledger.chain import remove_sealed
from apps.memories.ledger.record import record
from apps.memories.models import EvaluationItem, Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.outbox.rounds import Position, Step, begin_round, continue_round
from apps.pipeline.core.enums import TraceStatus
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import ModelCall, ReplayedTrace, Span, Trace, Turn
from apps.traces.policies import active_policy

AT_ONCE = 2_000  # traces per transaction, which takes some tenths of a second
JOB = "apply_retention"
FINISHED = "finished"  # in the place of a period: all of the project are done


def apply_retention(*, most: timedelta) -> int:
    """Begin to apply the periods of all projects; return how many rows were deleted or emptied.

    What is left when the time is up is done by `continue_retention`.
    """
    begin_round(job=JOB)
    return continue_retention(most=most)


def continue_retention(*, most: timedelta) -> int:
    """Go on with a round that is not finished; return how many rows were deleted or emptied."""
    return continue_round(job=JOB, most=most, steps=_steps)


def _steps(position: Position) -> Iterator[Step]:
    """Go on behind a position: a project, and within it a period and the last trace that it was applied to."""
    with system_scope(SystemWork.SCHEDULE):
        projects = list(Project.objects.order_by("id").values_list("id", flat=True))
    for project_id in projects:
        if not position or str(project_id) > position["project"]:
            yield from _apply_to(project_id, {"project": str(project_id), "rows": {}})
        elif str(project_id) == position["project"] and position.get("period") != FINISHED:
            yield from _apply_to(project_id, position)


def _apply_to(project_id: UUID, position: Position) -> Iterator[Step]:
    """Apply the periods of one project; one step for each transaction, and the last one for alerts and ledger."""
    now, scope = timezone.now(), partial(tenant_scope, project_id=project_id)
    with scope():
        policy = active_policy(project_id=project_id).retention
    periods: tuple[tuple[str, int, Callable[[Collection[UUID]], int]], ...] = (
        ("turns", policy.turn_days, _delete_turns),
        ("model_calls", policy.model_call_days, lambda traces: ModelCall.objects.filter(trace__in=traces).delete()[0]),
        ("traces", policy.trace_days, _delete_traces),
    )
    for name, days, delete in periods:
        if not days or position.get("period", name) != name:
            continue  # unlimited, or done before
        while traces := _ended_traces(project_id, position, before=now - timedelta(days=days)):
            # The traces were read in the project's scope. Without one, no row needs a look-up of its project.
            with system_scope(SystemWork.RETENTION), transaction.atomic():
                changed = delete([trace_id for _, trace_id in traces])
            rows = {**position["rows"], name: position["rows"].get(name, 0) + changed}
            at, last = traces[-1]
            position = {**position, "rows": rows, "period": name, "at": at.isoformat(), "trace": str(last)}
            yield Step(position, changed)
        position = {name: position[name] for name in ("project", "rows")}
    ended: dict[str, int] = {}  # alerts, and entries of the ledger
    with scope():
        if policy.alert_days:
            before, ended["alerts"] = now - timedelta(days=policy.alert_days), 0
            over = Alert.objects.for_project(project_id).filter(state=AlertState.RESOLVED, resolved_at__lt=before)
            while ids := list(over.order_by("id").values_list("id", flat=True)[:AT_ONCE]):
                with transaction.atomic():
                    AlertDelivery.objects.filter(alert_id__in=ids).delete()
                    ended["alerts"] += Alert.objects.filter(id__in=ids).delete()[0]
        if policy.ledger_days:
            ended["ledger"] = remove_sealed(project_id=project_id, before=now - timedelta(days=policy.ledger_days))
        rows = {**position["rows"], **ended}
        if any(rows.values()):
            record("retention_applied", "project", project_id, project_id=project_id, details={"rows": rows})
    yield Step({**position, "period": FINISHED}, sum(ended.values()))


def _delete_turns(traces: Collection[UUID]) -> int:
    """Delete turns; one that a memory quotes, or that is in a sample of evaluation, keeps its row, without its text."""
    turns, same = Turn.objects.filter(trace__in=traces), OuterRef("pk")
    quoted = Exists(MemoryOrigin.objects.filter(turn_id=same)) | Exists(EvaluationItem.objects.filter(turn_id=same))
    deleted, _ = turns.exclude(quoted).only("id").delete()
    return deleted + turns.exclude(content="").update(content="", speaker="")


def _delete_traces(traces: Collection[UUID]) -> int:
    """Delete traces with their spans; one that a turn or memory refers to keeps its row, with its counts."""
    deleted = 0
    for parts in (ReplayedTrace, ModelCall, Span):
        deleted += parts.objects.filter(trace_id__in=traces).delete()[0]
    rows, same = Trace.objects.filter(id__in=traces), OuterRef("pk")
    for other in (Turn, Memory, MemoryOrigin, MemoryVersion, MemoryLink):
        rows = rows.exclude(Exists(other.objects.filter(trace_id=same)))
    deleted += rows.only("id").delete()[0]
    kept = Trace.objects.filter(id__in=traces).exclude(outcomes=[], plan=[], metadata={}, error="")
    return deleted + kept.update(outcomes=[], plan=[], metadata={}, error="")


def _ended_traces(project_id: UUID, position: Position, *, before: datetime) -> list[tuple[datetime, UUID]]:
    """Return the next traces that were accepted before a time and have ended, oldest first."""
    rows = Trace.objects.filter(project_id=project_id, created_at__lt=before).exclude(status=TraceStatus.QUEUED)
    if "trace" in position:
        at, last = datetime.fromisoformat(position["at"]), UUID(position["trace"])
        rows = rows.filter(created_at__gte=at).filter(Q(created_at__gt=at) | Q(created_at=at, id__gt=last))
    with tenant_scope(project_id=project_id):
        return list(rows.order_by("created_at", "id").values_list("created_at", "id")[:AT_ONCE])
