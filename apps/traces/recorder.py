"""Record the outcome of a run: spans, model calls, and the final state of the trace.

Every turn pays for this, so it is few statements: the rows are sent as JSON and unpacked by the database. Each names
the end user and inserts into one table at most, as Citus requires of a statement that it runs on one shard.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.utils import timezone
from psycopg.types.json import Jsonb

from apps.events.recording import RECORD_TRACE, record_event, trace_event_values
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.draft import StageSpan as DraftSpan
from apps.pipeline.core.enums import EventType, TraceStatus
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.input_validation import storable
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.plan import WritePlan
from apps.tenants.constant_statements import run_constant
from apps.tenants.end_users import wait_for_writers
from apps.traces.models import Span, Trace
from apps.traces.trace_report import report_of

FIRST_OF_RUN = 1  # position of the first span of a run; span 0 is written when the request is accepted


# Insert where the subquery {owner} has a row: the end user, as `owner_id`. On Citus the join tells the shard.
_INSERT_SPANS = """
insert into traces_span
    (id, end_user_id, trace_id, position, stage, result, reason, latency_us, details, created_at)
select id, owner_id, %(trace)s, position, stage, result, reason, latency_us, details, statement_timestamp()
from {owner} as owner, jsonb_populate_recordset(null::traces_span, %(spans)s)
"""
_INSERT_CALLS = """
insert into traces_modelcall
    (id, end_user_id, trace_id, purpose, request_hash, model, prompt_version, answer, input_tokens,
     cache_read_tokens, cache_write_tokens, output_tokens, latency_us, cost_usd, error, answer_kind,
     invalid_objects, prompt_cut, created_at)
select id, owner_id, %(trace)s, purpose, request_hash, model, prompt_version, answer, input_tokens,
     cache_read_tokens, cache_write_tokens, output_tokens, latency_us, cost_usd, error, answer_kind,
     invalid_objects, prompt_cut, statement_timestamp()
from {owner} as owner, jsonb_populate_recordset(null::traces_modelcall, %(calls)s)
"""
# Whoever records a failure may have lost the lease, and the trace may have been erased. No foreign key tells.
_TRACE = """(
    select end_user_id as owner_id from traces_trace
    where end_user_id = %(end_user)s and id = %(trace)s for key share
)"""
_INSERT_CALLS_OF_FAILURE = _INSERT_CALLS.format(owner=_TRACE)
_LOCK_SESSION = "select 1 from traces_session where end_user_id = %(end_user)s and id = %(session)s for no key update"

# CTEs of the statement that closes a trace. The session is locked before the lease; the trace is only closed where the
# CTE `held` has a row, which means that the worker still holds the lease.
SESSION_LOCK_CTE = f"session_lock as ({_LOCK_SESSION})"
CLOSE_TRACE_CTES = """
moved as (
    update traces_session set summarised_until = %(summarised)s
    from held where traces_session.end_user_id = %(end_user)s and id = %(session)s
        and summarised_until < %(summarised)s
), closed as (
    update traces_trace set status = %(status)s, counts = %(counts)s, outcomes = %(outcomes)s, plan = %(plan)s,
        error = %(error)s, finished_at = statement_timestamp()
    from held where traces_trace.end_user_id = %(end_user)s and id = %(trace)s
)
"""


def insert_spans(*, owner: str) -> str:
    """Return the statement that inserts spans where the subquery `owner` has a row: the end user, as `owner_id`."""
    return _INSERT_SPANS.format(owner=owner)


def inserts_of_run(*, owner: str) -> tuple[str, ...]:
    """Return the statements that insert the spans, model calls and event of a run where `owner` has a row, as above."""
    return insert_spans(owner=owner), _INSERT_CALLS.format(owner=owner), RECORD_TRACE.format(owner=owner)


def lock_session(*, draft: Draft) -> None:
    """Keep other writers of the end user's memories out, then lock the session: the order of all writers."""
    wait_for_writers(draft.request.origin.end_user_id)
    run_constant(_LOCK_SESSION, owner_values(draft))


def close_trace_values(*, draft: Draft, plan: WritePlan, is_session_level: bool) -> dict[str, Any]:
    """Return the query parameters of CLOSE_TRACE_CTES and `inserts_of_run`.

    Session-level extraction moves the session's position.
    """
    report = report_of(draft)
    until = max((turn.position for turn in draft.request.turns), default=-1) + 1
    return {
        **owner_values(draft),
        **trace_event_values(project_id=draft.request.origin.project_id, is_failed=bool(draft.failure)),
        "summarised": until if is_session_level and not draft.failure else 0,
        "counts": Jsonb(report.counts),
        "outcomes": Jsonb(report.outcomes),
        "plan": Jsonb(operations_json(plan)),
        "spans": Jsonb(span_rows(draft.spans, first=FIRST_OF_RUN)),
        "calls": Jsonb(_calls(draft.model_calls)),
        "status": (TraceStatus.EXTRACTION_FAILED if draft.failure else TraceStatus.DONE).value,
        "error": draft.failure,
    }


def operations_json(plan: WritePlan) -> list[dict[str, Any]]:
    """Return the operations of a plan as a trace keeps them."""
    return [{"op": type(each).__name__, **_to_json(each)} for each in plan.operations]


def record_calls(*, end_user_id: UUID, trace_id: UUID, calls: Iterable[ModelCallRecord]) -> None:
    """Insert the model calls of a failed run, so that their tokens and cost are counted; none if the trace is gone."""
    run_constant(_INSERT_CALLS_OF_FAILURE, {"end_user": end_user_id, "trace": trace_id, "calls": Jsonb(_calls(calls))})


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


def owner_values(draft: Draft) -> dict[str, Any]:
    """Return the identifiers of a draft's trace, end user and session as query parameters."""
    origin = draft.request.origin
    return {"trace": draft.request.trace_id, "end_user": origin.end_user_id, "session": origin.session_id}


def span_rows(spans: Iterable[DraftSpan], *, first: int) -> list[dict[str, Any]]:
    """Return spans as JSON-ready rows, numbered from `first`."""
    return [
        {"id": str(new_id()), "position": position, **_to_json(span)}
        for position, span in enumerate(spans, start=first)
    ]


def _calls(calls: Iterable[ModelCallRecord]) -> list[dict[str, Any]]:
    return [
        {
            "id": str(new_id()),
            "purpose": call.purpose.value,
            "request_hash": call.request_hash,
            "model": call.model[:120],
            "prompt_version": call.prompt_version,
            "answer": storable(call.answer),
            "input_tokens": call.usage.input,
            "cache_read_tokens": call.usage.cache_read,
            "cache_write_tokens": call.usage.cache_write,
            "output_tokens": call.usage.output,
            "latency_us": call.latency_us,
            "cost_usd": str(call.cost_usd),
            "error": storable(call.error),
            "answer_kind": call.kind.value if call.kind else "",
            "invalid_objects": call.invalid_objects,
            "prompt_cut": call.is_prompt_cut,
        }
        for call in calls
    ]


def _to_json(value: object) -> dict[str, Any]:
    """Convert a frozen value to JSON types."""
    result: dict[str, Any] = msgspec.to_builtins(value, str_keys=True)
    return result
