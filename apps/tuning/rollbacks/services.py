"""Preview, request, run and undo rollbacks, one end user after the other."""

import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec
import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from apps.common.errors import Conflict, NotFound, Refused
from apps.common.rows import get_or_refuse
from apps.memories.ledger.actor import acting_as, current_actor
from apps.memories.ledger.record import record
from apps.memories.models import Memory, MemoryVersion, Rollback, RollbackItem
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.outbox.enqueue import queue_task
from apps.outbox.leases import interrupt
from apps.outbox.manual import cancel
from apps.pipeline.core.enums import RUNS, LeftAlone, RollbackState, Stage, Status, TraceStatus, WorkKind
from apps.pipeline.core.operations import ROLLBACK_UNDONE, ROLLED_BACK, ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.pipeline.redaction.redact import redact
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces import recorder
from apps.traces.get_or_create import hold_end_user
from apps.traces.models import ConfigurationVersion, Session, Span, Trace, Turn
from apps.traces.policies import active_policy, policy_of
from apps.traces.runs import RunHead, queue_trace, recorded_runs
from apps.traces.trace_report import report_of
from apps.tuning.replays.replaying import judged_run
from apps.tuning.rollbacks.loading import load_history, load_taken, selected_traces
from apps.tuning.rollbacks.planning import Kept, RollbackPlan, Takings, plan_rollback, plan_undo

log = structlog.get_logger(__name__)

MOST_USERS = 50  # of whom a preview looks at each memory
MOST_MEMORIES = 500  # listed

KeptRow = tuple[Kept, Memory | Trace]  # what was left alone, with its row


@dataclass(frozen=True, slots=True)
class PreviewedMemory:
    """A memory that a rollback would change, with the columns that get other values."""

    memory: Memory
    changes: dict[str, Any]

    @property
    def becomes(self) -> str:
        """Return the status that the memory would have."""
        return str(self.changes.get("status", self.memory.status))

    @property
    def gets_words(self) -> bool:
        """Return True if the memory would have other words."""
        return self.changes.get("content", self.memory.content) != self.memory.content


@dataclass(frozen=True, slots=True)
class RollbackPreview:
    """What a rollback would do; of many end users, memories are listed for the first ones only."""

    users: int
    traces: int
    users_previewed: int
    counts: dict[str, int]
    memories: list[PreviewedMemory]  # those that would be retracted first
    kept: list[KeptRow]


def preview_rollback(rollback: Rollback) -> RollbackPreview:
    """Plan a rollback, which is not stored, for up to MOST_USERS end users."""
    project_id = rollback.project_id
    traces = selected_traces(rollback)
    users = sorted(traces.order_by().values_list("end_user_id", flat=True).distinct())
    total: Counter[str] = Counter()
    changes: dict[UUID, dict[str, Any]] = {}
    kept: list[Kept] = []
    for user in users[:MOST_USERS]:
        ids = set(traces.filter(end_user_id=user).values_list("id", flat=True))
        planned = plan_of(rollback, user, ids)
        total.update(counts_of(planned, traces=len(ids)))
        changes |= {each.memory_id: dict(each.changes) for each in planned.plan.of(ReviseMemory)}
        kept += planned.kept
    memories = Memory.objects.for_project(project_id).filter(id__in=list(changes)[:MOST_MEMORIES])
    rows = {row.id: row for row in memories.to_show()}
    previewed = [PreviewedMemory(rows[key], values) for key, values in changes.items() if key in rows]
    return RollbackPreview(
        users=len(users),
        traces=traces.count(),
        users_previewed=min(len(users), MOST_USERS),
        counts=dict(total),
        memories=sorted(previewed, key=lambda each: each.becomes != Status.RETRACTED),
        kept=kept_rows(kept[:MOST_MEMORIES], project_id=project_id),
    )


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


def progress_of(rollback: Rollback) -> tuple[int, int, list[KeptRow]]:
    """Return the end users of a rollback, those still waiting for it or its undo, and what was left alone."""
    items = RollbackItem.objects.filter(rollback=rollback)
    waiting = 0 if rollback.is_over else _left(rollback).count()
    lists = items.exclude(left_alone=[]).order_by("id").values_list("left_alone", flat=True)[:MOST_MEMORIES]
    kept = [each for some in lists for each in msgspec.convert(some, list[Kept])][:MOST_MEMORIES]
    return items.count(), waiting, kept_rows(kept, project_id=rollback.project_id)


def kept_rows(kept: Sequence[Kept], *, project_id: UUID) -> list[KeptRow]:
    """Return what was left alone with its memories and traces, what can be forced first (two queries).

    What has been deleted since is left out.
    """
    kept = sorted(kept, key=lambda each: not each.can_be_forced)
    memories = Memory.objects.for_project(project_id).filter(id__in={each.memory_id for each in kept}).to_show()
    traces = Trace.objects.filter(project_id=project_id, id__in={each.trace_id for each in kept})
    rows: dict[UUID | None, Memory | Trace] = {row.id: row for row in memories}
    rows |= {row.id: row for row in traces.select_related("end_user").defer("plan", "outcomes")}
    found = ((each, rows.get(each.memory_id or each.trace_id)) for each in kept)
    return [(each, row) for each, row in found if row is not None]


WAIT = timedelta(seconds=2)  # how long a caller waits before the rest is left to a worker
AT_ONCE = 1_000  # items per statement


def request_rollback(rollback: Rollback, *, wait: timedelta = WAIT) -> Rollback:
    """Store a rollback and start it; return it, finished if that took no longer than `wait`.

    It takes back what was accepted until now. Repeating it finds nothing left. Raises NotFound for a forced memory that
    is not of the project.
    """
    rollback.forced = sorted(set(rollback.forced))
    if Memory.objects.for_project(rollback.project_id).filter(id__in=rollback.forced).count() != len(rollback.forced):
        raise NotFound("there is no such memory to force")
    rollback.note = redact(rollback.note, policy=active_policy(project_id=rollback.project_id).redaction).text[:255]
    rollback.actor = current_actor()
    with transaction.atomic():
        rollback.save(force_insert=True)
        traces = selected_traces(rollback)
        users = traces.order_by().values_list("end_user_id", flat=True).distinct()
        items = [RollbackItem(end_user_id=user, rollback=rollback) for user in sorted(users)]
        RollbackItem.objects.bulk_create(items, batch_size=AT_ONCE)
        _record(rollback, verb="rollback_requested", users=len(items))
    _run(rollback, wait)
    return rollback


def undo_rollback(*, project_id: UUID, rollback_id: UUID, wait: timedelta = WAIT) -> Rollback:
    """Restore what a rollback took back, where it has not been changed since; repeating it changes nothing.

    Raises NotFound, Conflict for a rollback that is still running.
    """
    with transaction.atomic():
        rows = Rollback.objects.select_for_update().filter(project_id=project_id, id=rollback_id)
        rollback = get_or_refuse(rows, "rollback")
        if rollback.state == RollbackState.WAITING:
            raise Conflict("the rollback is still running")
        if rollback.state == RollbackState.DONE:
            rollback.state, rollback.undone_by = RollbackState.UNDOING, current_actor()
            rollback.save(update_fields=["state", "undone_by"])
            _record(rollback, verb="rollback_undo_requested")
    _run(rollback, wait)
    return rollback


def _run(rollback: Rollback, wait: timedelta) -> None:
    if not run_rollback(rollback_id=rollback.id, most=wait):
        transaction.on_commit(lambda: queue_task("continue_rollbacks", group="rollback"))
    rollback.refresh_from_db()


def _record(rollback: Rollback, *, verb: str, end_user_id: UUID | None = None, **details: int) -> None:
    record(
        project_id=rollback.project_id,
        end_user_id=end_user_id,
        verb=verb,
        object_kind="rollback",
        object_id=rollback.id,
        details=details,
    )


def run_rollback(*, rollback_id: UUID, most: timedelta) -> bool:
    """Do what is left of a rollback, or of its undo; return True once nothing is.

    Each end user is one transaction, so what was killed goes on where it was, and two processes may run the same
    rollback. An end user who can't be done, because somebody writes meanwhile, is left for the next call.
    """
    deadline = time.monotonic() + most.total_seconds()
    rollback = Rollback.objects.get(id=rollback_id)
    if rollback.is_over:
        return True
    is_undo = rollback.state == RollbackState.UNDOING
    for end_user_id in list(_left(rollback).order_by("id").values_list("end_user_id", flat=True)):
        if time.monotonic() >= deadline:
            return False
        try:
            with acting_as(rollback.undone_by if is_undo else rollback.actor), transaction.atomic():
                # Other writers are kept out until the transaction ends, in their order of locks: the end user, then
                # sessions. A worker locks the session of a trace before it commits it, so no trace of the user ends.
                hold_end_user(end_user_id)
                sessions = Session.objects.select_for_update().filter(end_user_id=end_user_id).order_by("id")
                list(sessions.values_list("id"))
                item = _left(rollback).select_for_update().filter(end_user_id=end_user_id).first()
                if item is None:
                    continue  # another process has done it
                kept, counts = _undo(rollback, item) if is_undo else _take_back(rollback, item)
                RollbackItem.objects.filter(end_user_id=end_user_id, id=item.id).update(
                    state=RollbackState.UNDONE if is_undo else RollbackState.DONE,
                    done=item.done,
                    left_alone=msgspec.to_builtins(kept),
                    error="",
                    finished_at=timezone.now(),
                )
                _record(rollback, verb=ROLLBACK_UNDONE if is_undo else ROLLED_BACK, end_user_id=end_user_id, **counts)
        except (StalePlan, Refused) as why:
            log.info("rollback of a user put off", rollback=str(rollback.id), reason=str(why))
            _left(rollback).filter(end_user_id=end_user_id).update(error=str(why)[:4_000])
    return _finish(rollback_id)


def continue_rollbacks(*, most: timedelta) -> int:
    """Go on with unfinished rollbacks, oldest first; return how many are finished now."""
    deadline = time.monotonic() + most.total_seconds()
    with system_scope(SystemWork.SCHEDULE):
        rollbacks = Rollback.objects.filter(state__in=(RollbackState.WAITING, RollbackState.UNDOING)).order_by("id")
        unfinished = list(rollbacks.values_list("id", "project_id"))
    finished = 0
    for rollback_id, project_id in unfinished:
        with tenant_scope(project_id=project_id):
            finished += run_rollback(rollback_id=rollback_id, most=timedelta(seconds=deadline - time.monotonic()))
    return finished


def _left(rollback: Rollback) -> QuerySet[RollbackItem]:
    """Return the parts that are left to do of a rollback, or of its undo."""
    todo = RollbackState.DONE if rollback.state == RollbackState.UNDOING else RollbackState.WAITING
    return RollbackItem.objects.filter(rollback=rollback, state=todo)


def _finish(rollback_id: UUID) -> bool:
    """Close a rollback, or its undo, once all parts are done, with the sum of their counts."""
    with transaction.atomic():
        rollback = Rollback.objects.select_for_update().get(id=rollback_id)
        if rollback.is_over:
            return True
        if _left(rollback).exists():
            return False
        rows = list(RollbackItem.objects.filter(rollback=rollback).values_list("done", "left_alone"))
        if rollback.state == RollbackState.UNDOING:
            rollback.state, rollback.undone_at = RollbackState.UNDONE, timezone.now()
            rollback.counts["undone_traces"] = sum(done.get("undone_traces", 0) for done, _ in rows)
            rollback.counts["undo_left_alone"] = sum(len(kept) for _, kept in rows)
        else:
            rollback.state, rollback.finished_at = RollbackState.DONE, timezone.now()
            total: Counter[str] = Counter()
            for done, _ in rows:
                total.update(done.get("counts", {}))
            rollback.counts = {"users": len(rows), **total}
        rollback.save()
    return True


def _take_back(rollback: Rollback, item: RollbackItem) -> tuple[Collection[Kept], dict[str, int]]:
    """Take back what the selected traces of an end user wrote; return what is left alone, and the counts."""
    end_user_id = item.end_user_id
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
    item.done = {
        "traces": {str(trace.id): trace.status for trace in traces},
        "takings": msgspec.to_builtins(planned.takings, str_keys=True),
        "counts": counts,
    }
    if rollback.rerun:
        run_again(end_user_id=end_user_id, project_id=rollback.project_id, traces=traces)
    return planned.kept, counts


_WAITED = frozenset({TraceStatus.QUEUED, TraceStatus.DEAD})


def _undo(rollback: Rollback, item: RollbackItem) -> tuple[Collection[Kept], dict[str, int]]:
    """Restore what was taken back of an end user; return what is left alone, and the counts.

    What was changed since is left alone; everything is if a trace was run again. Traces that had waited or failed are
    queued.
    """
    end_user_id = item.end_user_id
    before = {UUID(key): status for key, status in item.done["traces"].items()}
    known = Trace.objects.filter(end_user_id=end_user_id, id__in=list(before))
    taken_back = known.filter(status=TraceStatus.ROLLED_BACK, rollback_id=rollback.id)
    traces = list(taken_back.defer("plan", "outcomes").order_by("created_at", "id"))
    kept: Collection[Kept]
    if len(traces) < known.count():
        revised = MemoryVersion.objects.filter(end_user_id=end_user_id, rollback_id=rollback.id)
        ids = set(revised.filter(operation=ROLLED_BACK).values_list("memory_id", flat=True))
        traces, kept = [], [Kept(memory_id, LeftAlone.RUN_AGAIN) for memory_id in sorted(ids)]
    else:
        takings = msgspec.convert(item.done["takings"], Takings)
        history = load_taken(end_user_id=end_user_id, rollback_id=rollback.id, takings=takings)
        planned = plan_undo(history, rollback_id=rollback.id, takings=takings)
        _write(rollback, end_user_id, planned.plan)
        kept = planned.kept
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
    item.done["undone_traces"] = len(traces)
    return kept, {"traces": len(traces), "left_alone": len(kept)}


def _write(rollback: Rollback, end_user_id: UUID, plan: WritePlan) -> None:
    """Apply a plan for one end user, and start the user's work again from what is stored then. Raises StalePlan."""
    context = WriteContext(rollback.project_id, end_user_id, actor=current_actor(), rollback_id=rollback.id)
    apply_plan(plan=plan, context=context)
    interrupt(end_user_id=end_user_id)


def _mark_turns(end_user_id: UUID, traces: Sequence[Trace], *, withdrawn: bool) -> None:
    """Mark turns, and void what processes have cached of their sessions: a turn that was taken back may be repeated."""
    Turn.objects.filter(end_user_id=end_user_id, trace__in=traces).update(withdrawn=withdrawn)
    Session.objects.filter(id__in={trace.session_id for trace in traces}).update(last_turn_at=Now())


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
    # What the pre-filter decides now replaces the reasons of turns, and its span, which keeps its time.
    drops = {drop.turn_id: drop for draft in drafts for drop in draft.drops}
    rows = list(turns)
    for turn in rows:
        drop = drops.get(turn.id)
        turn.rejected_for = drop.reason if drop else ""
        turn.rejected_by = drop.detail.get("rule", "") if drop else ""
    Turn.objects.bulk_update(rows, ["rejected_for", "rejected_by"], batch_size=500)
    spans = {draft.request.trace_id: recorder.spans_of(draft, first=0)[0] for draft in drafts}
    kept = list(Span.objects.filter(end_user_id=end_user_id, trace__in=spans, stage=Stage.PRE_FILTER))
    for span in kept:
        new = spans[span.trace_id]
        span.result, span.reason, span.details = new.result, new.reason, new.details
    Span.objects.bulk_update(kept, ["result", "reason", "details"], batch_size=500)
    for trace, draft in zip(again, drafts, strict=True):
        if draft.turns:
            queue_trace(trace)
        else:
            report = report_of(draft)
            Trace.objects.filter(end_user_id=end_user_id, id=trace.id).update(
                status=TraceStatus.REJECTED, counts=report.counts, outcomes=report.outcomes, finished_at=now
            )
