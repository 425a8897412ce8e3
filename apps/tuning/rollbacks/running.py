"""Run rollbacks and their undo, one end user after the other."""

import time
from collections import Counter
from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

import msgspec
import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.common.errors import Refused
from apps.memories.ledger.actor import acting_as, current_actor
from apps.memories.ledger.record import record
from apps.memories.models import Memory, MemoryVersion, Rollback, RollbackItem
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.outbox import enqueue
from apps.outbox.leases import interrupt
from apps.outbox.manual import cancel
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import RUNS, LeftAlone, RollbackState, Stage, Status, TraceStatus, WorkKind
from apps.pipeline.core.operations import ROLLBACK_UNDONE, ROLLED_BACK, ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces import recorder
from apps.traces.get_or_create import hold_end_user
from apps.traces.models import ConfigurationVersion, Session, Span, Trace, Turn
from apps.traces.policies import active_policy, policy_of
from apps.traces.runs import RunHead, recorded_runs
from apps.traces.trace_report import report_of
from apps.tuning.replays.replaying import judged_run
from apps.tuning.rollbacks.loading import load_history, load_taken, selected_traces
from apps.tuning.rollbacks.planning import Kept, RollbackPlan, Takings, plan_rollback, plan_undo


def run_again(*, end_user_id: UUID, project_id: UUID, traces: Sequence[Trace]) -> None:
    """Judge the turns of traces anew, and queue the traces with turns that are kept, in the order given.

    The others end as rejected ones. Session-level traces, which have no turns of their own, stay as they are.
    """
    active = ConfigurationVersion.objects.get(project_id=project_id, is_active=True)
    turns = Turn.objects.filter(end_user_id=end_user_id, trace__in=traces)
    with_turns = set(turns.values_list("trace_id", flat=True))
    again = [trace for trace in traces if trace.id in with_turns]
    turns.update(withdrawn=False)
    recorder.reopen(traces=again)
    Trace.objects.filter(end_user_id=end_user_id, id__in=[trace.id for trace in again]).update(
        configuration=active, rollback_id=None, plan=[], error=""
    )
    # What was left alone has no place in the trace any more: the run may store the same candidate.
    Memory.objects.filter(end_user_id=end_user_id, trace__in=again).update(candidate_index=None)
    now, policy = timezone.now(), policy_of(active.id)
    heads = [
        RunHead(trace.id, trace.session_id, active.id, now, now, now, latency_us=0, extracted_with=trace.id)
        for trace in again
    ]
    runs = recorded_runs(end_user_id=end_user_id, heads=heads, before=0)
    drafts = [judged_run(run, policy=policy) for run in runs]
    _write_verdicts(end_user_id, drafts)
    for trace, draft in zip(again, drafts, strict=True):
        if draft.turns:
            queue_trace(trace)
        else:
            report = report_of(draft)
            Trace.objects.filter(end_user_id=end_user_id, id=trace.id).update(
                status=TraceStatus.REJECTED, counts=report.counts, outcomes=report.outcomes, finished_at=now
            )


def queue_trace(trace: Trace) -> None:
    """Leave a trace to a worker."""
    has_turns = Turn.objects.filter(end_user_id=trace.end_user_id, trace=trace).exists()
    enqueue.enqueue(
        end_user_id=trace.end_user_id,
        project_id=trace.project_id,
        kind=trace.work_kind(has_turns=has_turns),
        subject_ids=[trace.id],
        session_id=trace.session_id,
    )


def _write_verdicts(end_user_id: UUID, drafts: Sequence[Draft]) -> None:
    """Replace what the pre-filter has decided: the reasons of turns, and its span, which keeps its time."""
    drops = {drop.turn_id: drop for draft in drafts for drop in draft.drops}
    turns = list(Turn.objects.filter(end_user_id=end_user_id, trace__in=[each.request.trace_id for each in drafts]))
    for turn in turns:
        drop = drops.get(turn.id)
        turn.rejected_for = drop.reason if drop else ""
        turn.rejected_by = drop.detail.get("rule", "") if drop else ""
    Turn.objects.bulk_update(turns, ["rejected_for", "rejected_by"], batch_size=500)
    spans = {draft.request.trace_id: recorder.spans_of(draft, first=0)[0] for draft in drafts}
    kept = list(Span.objects.filter(end_user_id=end_user_id, trace__in=spans, stage=Stage.PRE_FILTER))
    for span in kept:
        row = spans[span.trace_id]
        span.result, span.reason, span.details = row.result, row.reason, row.details
    Span.objects.bulk_update(kept, ["result", "reason", "details"], batch_size=500)


log = structlog.get_logger(__name__)

MOST_TRIES = 3  # somebody may change a memory while the plan is made
_WAITED = frozenset({TraceStatus.QUEUED, TraceStatus.DEAD})
MOST_LISTED = 500


KeptRow = tuple[Kept, Memory | Trace]  # what was left alone, with its row


def progress_of(rollback: Rollback) -> tuple[int, int, list[KeptRow]]:
    """Return the end users of a rollback, those still waiting for it or its undo, and what was left alone."""
    items = RollbackItem.objects.filter(rollback=rollback)
    todo = RollbackState.DONE if rollback.state == RollbackState.UNDOING else RollbackState.WAITING
    waiting = 0 if rollback.is_over else items.filter(state=todo).count()
    lists = items.exclude(left_alone=[]).order_by("id").values_list("left_alone", flat=True)[:MOST_LISTED]
    kept = [each for some in lists for each in msgspec.convert(some, list[Kept])][:MOST_LISTED]
    return items.count(), waiting, kept_rows(kept, project_id=rollback.project_id)


def kept_rows(kept: Sequence[Kept], *, project_id: UUID) -> list[KeptRow]:
    """Return what was left alone with its memories and traces, without those deleted since (two queries)."""
    memories = Memory.objects.for_project(project_id).filter(id__in={each.memory_id for each in kept}).to_show()
    traces = Trace.objects.filter(project_id=project_id, id__in={each.trace_id for each in kept})
    rows: dict[UUID | None, Memory | Trace] = {row.id: row for row in memories}
    rows |= {row.id: row for row in traces.select_related("end_user").defer("plan", "outcomes")}
    found = ((each, rows.get(each.memory_id or each.trace_id)) for each in kept)
    return [(each, row) for each, row in found if row is not None]


def roll_back_user(*, rollback: Rollback, end_user_id: UUID) -> None:
    """Take back what the selected traces of an end user wrote, unless that is done already.

    Raises StalePlan when somebody has changed a memory meanwhile, and Conflict while the user is being erased.
    """
    with transaction.atomic():
        item = _locked(rollback, end_user_id, RollbackState.WAITING)
        if item is None:
            return
        rows = selected_traces(rollback).filter(end_user_id=end_user_id)
        traces = list(rows.defer("plan", "outcomes").order_by("created_at", "id"))
        planned = plan_of(rollback, end_user_id, {trace.id for trace in traces})
        _write(rollback, end_user_id, planned.plan)
        retracted = [
            each.memory_id for each in planned.plan.of(ReviseMemory) if each.changes.get("status") == Status.RETRACTED
        ]
        cancelled = cancel(end_user_id=end_user_id, kinds=sorted(RUNS), subject_ids=[trace.id for trace in traces])
        cancelled += cancel(end_user_id=end_user_id, kinds=[WorkKind.INDEX_MEMORY], subject_ids=retracted)
        Trace.objects.filter(end_user_id=end_user_id, id__in=[trace.id for trace in traces]).update(
            status=TraceStatus.ROLLED_BACK, rollback_id=rollback.id, error="", finished_at=timezone.now()
        )
        _mark_turns(end_user_id, traces, withdrawn=True)
        counts = {**counts_of(planned, traces=len(traces)), "work_cancelled": cancelled}
        item.state = RollbackState.DONE
        item.done = {
            "traces": {str(trace.id): trace.status for trace in traces},
            "takings": msgspec.to_builtins(planned.takings, str_keys=True),
            "counts": counts,
        }
        _finish_item(item, rollback, planned.kept, verb=ROLLED_BACK, details=counts)
        if rollback.rerun:
            run_again(end_user_id=end_user_id, project_id=rollback.project_id, traces=traces)


def undo_user(*, rollback: Rollback, end_user_id: UUID) -> None:
    """Restore what a rollback took back of an end user, unless that is done already.

    What was changed since is left alone; everything is if a trace was run again. Traces that had waited or failed are
    queued. Raises StalePlan and Conflict.
    """
    with transaction.atomic():
        item = _locked(rollback, end_user_id, RollbackState.DONE)
        if item is None:
            return
        before = {UUID(key): status for key, status in item.done["traces"].items()}
        known = Trace.objects.filter(end_user_id=end_user_id, id__in=list(before))
        taken_back = known.filter(status=TraceStatus.ROLLED_BACK, rollback_id=rollback.id)
        traces = list(taken_back.defer("plan", "outcomes").order_by("created_at", "id"))
        if len(traces) < known.count():
            revised = MemoryVersion.objects.filter(end_user_id=end_user_id, rollback_id=rollback.id)
            ids = set(revised.filter(operation=ROLLED_BACK).values_list("memory_id", flat=True))
            traces, kept = [], tuple(Kept(memory_id, LeftAlone.RUN_AGAIN) for memory_id in sorted(ids))
        else:
            takings = msgspec.convert(item.done["takings"], Takings)
            history = load_taken(end_user_id=end_user_id, rollback_id=rollback.id, takings=takings)
            planned = plan_undo(history, rollback_id=rollback.id, takings=takings)
            _write(rollback, end_user_id, planned.plan)
            for trace in traces:
                waited = before[trace.id] in _WAITED
                Trace.objects.filter(end_user_id=end_user_id, id=trace.id).update(
                    status=TraceStatus.QUEUED if waited else before[trace.id],
                    rollback_id=None,
                    finished_at=None if waited else trace.finished_at,
                )
                if waited:
                    queue_trace(trace)
            _mark_turns(end_user_id, traces, withdrawn=False)
            kept = planned.kept
        item.state, item.done = RollbackState.UNDONE, {**item.done, "undone_traces": len(traces)}
        details = {"traces": len(traces), "left_alone": len(kept)}
        _finish_item(item, rollback, kept, verb=ROLLBACK_UNDONE, details=details)


def plan_of(rollback: Rollback, end_user_id: UUID, traces: set[UUID]) -> RollbackPlan:
    """Plan the rollback of some traces of an end user, under the active policy of the project."""
    history = load_history(end_user_id=end_user_id, traces=traces)
    policy = active_policy(project_id=rollback.project_id).confidence
    return plan_rollback(history, traces=traces, forced={UUID(each) for each in rollback.forced}, policy=policy)


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
        "entities_withdrawn": len(planned.takings.entities),
        "names_withdrawn": len(planned.takings.records),
        "left_alone": len(planned.kept),
    }


def _locked(rollback: Rollback, end_user_id: UUID, state: RollbackState) -> RollbackItem | None:
    """Keep other writers out until the transaction ends, in the lock order of writers: end user, then sessions.

    A worker locks the session of a trace before it commits it, so no trace of the user ends meanwhile. Returns the part
    of the rollback, None if it is no longer in the state. Raises Conflict while the end user is being erased.
    """
    hold_end_user(end_user_id)
    list(Session.objects.select_for_update().filter(end_user_id=end_user_id).order_by("id").values_list("id"))
    items = RollbackItem.objects.select_for_update().filter(end_user_id=end_user_id, rollback=rollback)
    return items.filter(state=state).first()


def _write(rollback: Rollback, end_user_id: UUID, plan: WritePlan) -> None:
    """Apply a plan for one end user, and start the user's work again from what is stored then. Raises StalePlan."""
    context = WriteContext(rollback.project_id, end_user_id, actor=current_actor(), rollback_id=rollback.id)
    apply_plan(plan=plan, context=context)
    interrupt(end_user_id=end_user_id)


def _mark_turns(end_user_id: UUID, traces: Sequence[Trace], *, withdrawn: bool) -> None:
    """Mark turns, and void what processes have cached of their sessions: a turn that was taken back may be repeated."""
    Turn.objects.filter(end_user_id=end_user_id, trace__in=traces).update(withdrawn=withdrawn)
    Session.objects.filter(id__in={trace.session_id for trace in traces}).update(last_turn_at=Now())


def _finish_item(
    item: RollbackItem, rollback: Rollback, kept: Collection[Kept], *, verb: str, details: dict[str, int]
) -> None:
    """Store what came of the part of a rollback, where the rows of its end user are, and record it."""
    RollbackItem.objects.filter(end_user_id=item.end_user_id, id=item.id).update(
        state=item.state, done=item.done, left_alone=msgspec.to_builtins(kept), error="", finished_at=timezone.now()
    )
    record(
        project_id=rollback.project_id,
        end_user_id=item.end_user_id,
        verb=verb,
        object_kind="rollback",
        object_id=rollback.id,
        details=details,
    )


# The state of items that are left to do, and the state that follows, by the state of the rollback.
_STEPS = {
    RollbackState.WAITING: (RollbackState.WAITING, RollbackState.DONE),
    RollbackState.UNDOING: (RollbackState.DONE, RollbackState.UNDONE),
}


def run_rollback(*, rollback_id: UUID, most: timedelta) -> bool:
    """Do what is left of a rollback, or of its undo; return True once nothing is.

    Each end user is one transaction, so what was killed goes on where it was, and two processes may run the same
    rollback. An end user who can't be done, because others write all the time, is left for the next call.
    """
    deadline = time.monotonic() + most.total_seconds()
    rollback = Rollback.objects.get(id=rollback_id)
    if rollback.is_over:
        return True
    todo, _ = _STEPS[RollbackState(rollback.state)]
    users = RollbackItem.objects.filter(rollback=rollback, state=todo).order_by("id")
    for end_user_id in list(users.values_list("end_user_id", flat=True)):
        if time.monotonic() >= deadline:
            return False
        _do(rollback, end_user_id)
    return _finish(rollback_id)


def continue_rollbacks(*, most: timedelta) -> int:
    """Go on with unfinished rollbacks, oldest first; return how many are finished now."""
    deadline = time.monotonic() + most.total_seconds()
    with system_scope(SystemWork.SCHEDULE):
        rollbacks = Rollback.objects.filter(state__in=[state.value for state in _STEPS]).order_by("id")
        unfinished = list(rollbacks.values_list("id", "project_id"))
    finished = 0
    for rollback_id, project_id in unfinished:
        with tenant_scope(project_id=project_id):
            finished += run_rollback(rollback_id=rollback_id, most=timedelta(seconds=deadline - time.monotonic()))
    return finished


def _do(rollback: Rollback, end_user_id: UUID) -> None:
    is_undo = rollback.state == RollbackState.UNDOING
    do, actor = (undo_user, rollback.undone_by) if is_undo else (roll_back_user, rollback.actor)
    for attempt in range(MOST_TRIES):
        try:
            with acting_as(actor):
                do(rollback=rollback, end_user_id=end_user_id)
            return
        except (StalePlan, Refused) as why:
            if attempt == MOST_TRIES - 1:
                log.info("rollback of a user put off", rollback=str(rollback.id), reason=str(why))
                items = RollbackItem.objects.filter(rollback=rollback, end_user_id=end_user_id)
                items.update(error=str(why)[:4_000])


def _finish(rollback_id: UUID) -> bool:
    """Close a rollback whose items are all done, with the sum of their counts."""
    with transaction.atomic():
        rollback = Rollback.objects.select_for_update().get(id=rollback_id)
        if rollback.is_over:
            return True
        todo, following = _STEPS[RollbackState(rollback.state)]
        items = RollbackItem.objects.filter(rollback=rollback)
        if items.filter(state=todo).exists():
            return False
        now, rows = timezone.now(), list(items.values_list("done", "left_alone"))
        if following is RollbackState.DONE:
            total: Counter[str] = Counter()
            for done, _ in rows:
                total.update(done.get("counts", {}))
            rollback.counts, rollback.finished_at = {"users": len(rows), **total}, now
        else:
            rollback.counts["undone_traces"] = sum(done.get("undone_traces", 0) for done, _ in rows)
            rollback.counts["undo_left_alone"] = sum(len(kept) for _, kept in rows)
            rollback.undone_at = now
        rollback.state = following
        rollback.save()
    return True
