"""Undo a rollback for one end user, in one transaction."""

from uuid import UUID

import msgspec
from django.db import transaction
from django.utils import timezone

from apps.actions.ledger.record import record
from apps.actions.rollbacks.history import Kept
from apps.actions.rollbacks.load_history import load_taken
from apps.actions.rollbacks.one_user import kept_as_json, lock_item, outdate_sessions, rules_of, save_item, write
from apps.actions.rollbacks.plan import Takings, plan_undo
from apps.memories.models import MemoryVersion, Rollback, RollbackItem
from apps.outbox import enqueue
from apps.pipeline.core.enums import LeftAlone, RollbackState, TraceStatus
from apps.pipeline.core.operations import ROLLBACK_UNDONE, ROLLED_BACK
from apps.traces.models import Trace, Turn

_WAITED = frozenset({TraceStatus.QUEUED.value, TraceStatus.DEAD.value})


def undo_user(*, rollback: Rollback, end_user_id: UUID) -> None:
    """Restore what a rollback took back of an end user, unless that is done already.

    What was changed since is left alone; everything is if a trace was run again. Traces that had waited or failed are
    queued. Raises StalePlan and Conflict.
    """
    with transaction.atomic():
        item = lock_item(rollback, end_user_id, state=RollbackState.DONE)
        if item is None:
            return
        before = {UUID(key): status for key, status in item.done["traces"].items()}
        taken_back = Trace.objects.filter(
            end_user_id=item.end_user_id, id__in=list(before), status=TraceStatus.ROLLED_BACK, rollback_id=rollback.id
        )
        traces = list(taken_back.defer("plan", "outcomes").order_by("created_at", "id"))
        known = Trace.objects.filter(end_user_id=item.end_user_id, id__in=list(before)).count()
        if len(traces) < known:
            _finish(item, rollback, _all_kept(rollback, item), traces=0)
            return
        takings = msgspec.convert(item.done["takings"], Takings)
        history = load_taken(end_user_id=item.end_user_id, rollback_id=rollback.id, takings=takings)
        planned = plan_undo(history, rollback_id=rollback.id, takings=takings, rules=rules_of(rollback.project_id))
        write(rollback=rollback, item=item, plan=planned.plan, actor=rollback.undone_by)
        for trace in traces:
            _reopen(trace, before[trace.id])
        Turn.objects.filter(end_user_id=item.end_user_id, trace__in=traces).update(withdrawn=False)
        outdate_sessions(sorted({trace.session_id for trace in traces}))
        _finish(item, rollback, planned.kept, traces=len(traces))


def _reopen(trace: Trace, status: str) -> None:
    waited = status in _WAITED
    Trace.objects.filter(end_user_id=trace.end_user_id, id=trace.id).update(
        status=TraceStatus.QUEUED if waited else status,
        rollback_id=None,
        finished_at=None if waited else trace.finished_at,
    )
    if waited:
        has_turns = Turn.objects.filter(end_user_id=trace.end_user_id, trace=trace).exists()
        enqueue.enqueue(
            end_user_id=trace.end_user_id,
            project_id=trace.project_id,
            kind=trace.work_kind(has_turns=has_turns),
            subject_ids=[trace.id],
            session_id=trace.session_id,
        )


def _all_kept(rollback: Rollback, item: RollbackItem) -> tuple[Kept, ...]:
    changed = MemoryVersion.objects.filter(end_user_id=item.end_user_id, rollback_id=rollback.id, operation=ROLLED_BACK)
    ids = sorted(set(changed.values_list("memory_id", flat=True)))
    return tuple(Kept(memory_id, LeftAlone.RUN_AGAIN) for memory_id in ids)


def _finish(item: RollbackItem, rollback: Rollback, kept: tuple[Kept, ...], *, traces: int) -> None:
    item.state, item.left_alone = RollbackState.UNDONE, kept_as_json(kept)
    item.done = {**item.done, "undone_traces": traces}
    item.error, item.finished_at = "", timezone.now()
    save_item(item)
    record(
        project_id=rollback.project_id,
        end_user_id=item.end_user_id,
        actor=rollback.undone_by,
        verb=ROLLBACK_UNDONE,
        object_kind="rollback",
        object_id=rollback.id,
        details={"traces": traces, "left_alone": len(kept)},
    )
