"""Run traces again that a rollback has taken back, under the active configuration."""

from collections.abc import Sequence
from uuid import UUID

from django.utils import timezone

from apps.memories.models import Memory
from apps.outbox import enqueue
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import Stage, TraceStatus
from apps.traces import recorder
from apps.traces.models import ConfigurationVersion, Span, Trace, Turn
from apps.traces.policies import policy_of
from apps.traces.runs import RunHead, recorded_runs
from apps.traces.trace_report import report_of
from apps.tuning.replays.replaying import judged_run


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
