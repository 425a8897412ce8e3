"""Record the outcome of a run: spans, model calls, and the final state of the trace."""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.events.enums import EventType
from apps.events.record import record_event
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.input_validation import storable
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.plan import WritePlan
from apps.traces.models import ModelCall, Session, Span, Trace
from apps.traces.trace_report import report_of

FIRST_OF_RUN = 1  # position of the first span of a run; span 0 is written when the request is accepted


def close_trace(*, draft: Draft, plan: WritePlan, is_session_level: bool) -> None:
    """Store the outcome of a run in its trace, with its spans, model calls and event, under the lease.

    Session-level extraction moves the session's position.
    """
    origin, trace_id = draft.request.origin, draft.request.trace_id
    if is_session_level and not draft.failure:
        until = max((turn.position for turn in draft.request.turns), default=-1) + 1
        Session.objects.filter(id=origin.session_id, summarised_until__lt=until).update(summarised_until=until)
    report = report_of(draft)
    status = TraceStatus.EXTRACTION_FAILED if draft.failure else TraceStatus.DONE
    Trace.objects.filter(end_user=origin.end_user_id, id=trace_id).update(
        status=status,
        counts=report.counts,
        outcomes=report.outcomes,
        plan=operations_json(plan),
        error=draft.failure,
        finished_at=Now(),
    )
    Span.objects.bulk_create(spans_of(draft, first=FIRST_OF_RUN))
    ModelCall.objects.bulk_create(call_rows(draft.model_calls, end_user_id=origin.end_user_id, trace_id=trace_id))
    record_event(
        project_id=origin.project_id,
        type=EventType.TRACE_FAILED if draft.failure else EventType.TRACE_FINISHED,
        end_user_id=origin.end_user_id,
        trace_id=trace_id,
        details={"status": status, "counts": report.counts},
    )


def operations_json(plan: WritePlan) -> list[dict[str, Any]]:
    """Return the operations of a plan as a trace keeps them."""
    return [{"op": type(each).__name__, **_to_json(each)} for each in plan.operations]


def record_calls(*, end_user_id: UUID, trace_id: UUID, calls: Iterable[ModelCallRecord]) -> None:
    """Insert the model calls of a failed run, so that their tokens and cost are counted; none if the trace is gone."""
    with transaction.atomic():
        if Trace.objects.select_for_update(no_key=True).filter(end_user=end_user_id, id=trace_id).first():
            ModelCall.objects.bulk_create(call_rows(calls, end_user_id=end_user_id, trace_id=trace_id))


def fail_trace(*, end_user_id: UUID, trace_id: UUID, status: TraceStatus, error: str) -> None:
    """Set a failed trace to queued (another attempt follows), dead or extraction_failed, with its error."""
    finished_at = None if status is TraceStatus.QUEUED else timezone.now()
    rows = Trace.objects.filter(end_user_id=end_user_id, id=trace_id)
    rows.update(status=status, error=error[:4_000], finished_at=finished_at)
    if finished_at is not None:
        for project_id in rows.values_list("project_id", flat=True):
            record_event(
                project_id=project_id,
                type=EventType.TRACE_FAILED,
                end_user_id=end_user_id,
                trace_id=trace_id,
                details={"status": status.value},
            )


def reopen(*, traces: Sequence[Trace]) -> None:
    """Queue ended traces again and delete the spans of the run that ended them; model calls stay, as they were paid."""
    users, ids = {trace.end_user_id for trace in traces}, [trace.id for trace in traces]
    Span.objects.filter(end_user_id__in=users, trace_id__in=ids, position__gte=FIRST_OF_RUN).delete()
    Trace.objects.filter(end_user_id__in=users, id__in=ids).update(
        status=TraceStatus.QUEUED, outcomes=[], finished_at=None
    )


def spans_of(draft: Draft, *, first: int) -> list[Span]:
    """Return the spans of a draft as rows, numbered from `first`."""
    return [
        Span(
            end_user_id=draft.request.origin.end_user_id,
            trace_id=draft.request.trace_id,
            position=position,
            stage=span.stage,
            result=span.result,
            reason=span.reason,
            latency_us=span.latency_us,
            details=_to_json(span)["details"],
            created_at=Now(),
        )
        for position, span in enumerate(draft.spans, start=first)
    ]


def call_rows(calls: Iterable[ModelCallRecord], *, end_user_id: UUID, trace_id: UUID) -> list[ModelCall]:
    """Return the model calls of a run as rows."""
    return [
        ModelCall(
            end_user_id=end_user_id,
            trace_id=trace_id,
            purpose=call.purpose,
            request_hash=call.request_hash,
            model=call.model[:120],
            prompt_version=call.prompt_version,
            answer=storable(call.answer),
            input_tokens=call.usage.input,
            cache_read_tokens=call.usage.cache_read,
            cache_write_tokens=call.usage.cache_write,
            output_tokens=call.usage.output,
            latency_us=call.latency_us,
            cost_usd=call.cost_usd,
            error=storable(call.error),
            answer_kind=call.kind or "",
            invalid_objects=call.invalid_objects,
            prompt_cut=call.is_prompt_cut,
            created_at=Now(),
        )
        for call in calls
    ]


def _to_json(value: object) -> dict[str, Any]:
    """Convert a frozen value to JSON types."""
    result: dict[str, Any] = msgspec.to_builtins(value, str_keys=True)
    return result
