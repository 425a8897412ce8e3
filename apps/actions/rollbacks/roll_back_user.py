"""Roll back the traces of one end user, in one transaction."""

from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone

from apps.actions.ledger.record import record
from apps.actions.rollbacks.load_history import load_history
from apps.actions.rollbacks.one_user import kept_as_json, lock_item, outdate_sessions, rules_of, save_item, write
from apps.actions.rollbacks.plan import RollbackPlan, plan_rollback
from apps.actions.rollbacks.run_again import run_again
from apps.actions.rollbacks.selection import TraceSelection
from apps.memories.models import Rollback, RollbackItem
from apps.outbox.manual import cancel
from apps.pipeline.core.enums import RUNS, RollbackState, TraceStatus, WorkKind
from apps.pipeline.core.operations import ROLLED_BACK, ReviseMemory
from apps.traces.models import Trace, Turn


def roll_back_user(*, rollback: Rollback, end_user_id: UUID) -> None:
    """Take back what the selected traces of an end user wrote, unless that is done already.

    Raises StalePlan when somebody has changed a memory meanwhile, and Conflict while the user is being erased.
    """
    with transaction.atomic():
        item = lock_item(rollback, end_user_id, state=RollbackState.WAITING)
        if item is None:
            return
        traces = traces_of(rollback, item.end_user_id)
        ids = [trace.id for trace in traces]
        history = load_history(end_user_id=item.end_user_id, traces=ids)
        planned = plan_rollback(
            history,
            traces=set(ids),
            forced={UUID(each) for each in rollback.forced},
            rules=rules_of(rollback.project_id),
        )
        write(rollback=rollback, item=item, plan=planned.plan, actor=rollback.actor)
        cancelled = _cancel_work(item.end_user_id, traces, planned)
        Trace.objects.filter(end_user_id=item.end_user_id, id__in=ids).update(
            status=TraceStatus.ROLLED_BACK, rollback_id=rollback.id, error="", finished_at=timezone.now()
        )
        Turn.objects.filter(end_user_id=item.end_user_id, trace_id__in=ids).update(withdrawn=True)
        outdate_sessions(sorted({trace.session_id for trace in traces}))
        _finish(item, rollback, traces, planned, cancelled)
        if rollback.rerun:
            run_again(end_user_id=item.end_user_id, project_id=rollback.project_id, traces=traces)


def traces_of(rollback: Rollback, end_user_id: UUID) -> list[Trace]:
    """Return the traces of one end user that a rollback takes back, in the order in which they were accepted."""
    selection = TraceSelection.from_json(rollback.selection)
    rows = selection.traces(project_id=rollback.project_id, before=rollback.created_at, with_rejected=rollback.rerun)
    return list(rows.filter(end_user_id=end_user_id).defer("plan", "outcomes").order_by("created_at", "id"))


def counts_of(planned: RollbackPlan, *, traces: int) -> dict[str, int]:
    """Count what a plan takes back, by kind."""
    statuses = Counter(
        str(each.changes["status"]) for each in planned.plan.of(ReviseMemory) if "status" in each.changes
    )
    return {
        "traces": traces,
        "memories_retracted": statuses["retracted"],
        "memories_restored": statuses["active"] + statuses["pending_review"],
        "memories_changed": len(planned.plan.of(ReviseMemory)) - statuses.total(),
        "sources_withdrawn": sum(len(turns) for turns in planned.takings.origins.values()),
        "links_closed": len(planned.takings.links),
        "entities_withdrawn": len(planned.takings.entities.withdrawn),
        "names_withdrawn": len(planned.takings.entities.records),
        "left_alone": len(planned.kept),
    }


def _cancel_work(end_user_id: UUID, traces: Sequence[Trace], planned: RollbackPlan) -> int:
    """Cancel the runs of the traces, and the indexing of what is retracted."""
    runs = cancel(end_user_id=end_user_id, kinds=sorted(RUNS), subject_ids=[trace.id for trace in traces])
    retracted = [each.memory_id for each in planned.plan.of(ReviseMemory) if each.changes.get("status") == "retracted"]
    return runs + cancel(end_user_id=end_user_id, kinds=[WorkKind.INDEX_MEMORY], subject_ids=retracted)


def _finish(
    item: RollbackItem, rollback: Rollback, traces: Sequence[Trace], planned: RollbackPlan, cancelled: int
) -> None:
    counts = {**counts_of(planned, traces=len(traces)), "work_cancelled": cancelled}
    done: dict[str, Any] = {
        "traces": {str(trace.id): trace.status for trace in traces},
        "takings": msgspec.to_builtins(planned.takings, str_keys=True),
        "counts": counts,
    }
    item.state, item.done, item.left_alone = RollbackState.DONE, done, kept_as_json(planned.kept)
    item.error, item.finished_at = "", timezone.now()
    save_item(item)
    record(
        project_id=rollback.project_id,
        end_user_id=item.end_user_id,
        actor=rollback.actor,
        verb=ROLLED_BACK,
        object_kind="rollback",
        object_id=rollback.id,
        details=counts,
    )
