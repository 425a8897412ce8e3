"""Write down what became of a request.

This is on the path of every turn, so it is one statement: rows travel as JSON and are taken apart by the database.
"""

from collections.abc import Iterable, Sequence
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection
from django.utils import timezone
from psycopg.types.json import Jsonb

from apps.pipeline.core.draft import Draft
from apps.pipeline.core.draft import StageSpan as DraftSpan
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.input_validation import storable
from apps.pipeline.core.model_calls import ModelCallRecord
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.trace_report import report_of
from apps.traces.models import Span, Trace

FIRST_OF_RUN = 1  # position of the first span of a run; the one before it is of the intake

# The rows of spans, as a part of a statement.
SPANS = """
    insert into traces_span
        (id, end_user_id, trace_id, position, stage, result, reason, latency_us, details, created_at)
    select id, %(end_user)s, %(trace)s, position, stage, result, reason, latency_us, details, clock_timestamp()
    from jsonb_populate_recordset(null::traces_span, %(spans)s)
"""
_CALLS = """
    insert into traces_modelcall
        (id, end_user_id, trace_id, purpose, request_hash, model, prompt_version, answer, input_tokens,
         cache_read_tokens, cache_write_tokens, output_tokens, latency_us, cost_usd, error, answer_kind,
         invalid_objects, created_at)
    select id, %(end_user)s, %(trace)s, purpose, request_hash, model, prompt_version, answer, input_tokens,
         cache_read_tokens, cache_write_tokens, output_tokens, latency_us, cost_usd, error, answer_kind,
         invalid_objects, clock_timestamp()
    from jsonb_to_recordset(%(calls)s) as call(
        id uuid, purpose text, request_hash text, model text, prompt_version text, answer text, input_tokens int,
        cache_read_tokens int, cache_write_tokens int, output_tokens int, latency_us bigint, cost_usd numeric,
        error text, answer_kind text, invalid_objects int)
"""
_HOLD = "select 1 from traces_session where end_user_id = %(end_user)s and id = %(session)s for no key update"

# Parts of a statement. The session is locked before the lease; what follows is done only where the lease is `held`.
STANDING = f"standing as ({_HOLD})"
CLOSED = f"""
moved as (
    update traces_session set summarised_until = %(summarised)s
    from held where traces_session.end_user_id = %(end_user)s and id = %(session)s
        and summarised_until < %(summarised)s
), new_spans as ({SPANS}, held), new_calls as ({_CALLS}, held), closed as (
    update traces_trace set status = %(status)s, counts = %(counts)s, outcomes = %(outcomes)s, plan = %(plan)s,
        error = %(error)s, finished_at = clock_timestamp()
    from held where traces_trace.end_user_id = %(end_user)s and id = %(trace)s
)
"""  # noqa: S608  (only constants of this module)


def hold_session(*, draft: Draft) -> None:
    """Lock the session's row before anything else is written, as whoever accepts turns does."""
    _execute(_HOLD, whose(draft))


def closing(*, draft: Draft, plan: WritePlan, is_look_back: bool) -> dict[str, Any]:
    """Return the values of CLOSED: how the trace ended, what was asked, and how far its session was looked back on."""
    report = report_of(draft)
    until = max((turn.position for turn in draft.request.turns), default=-1) + 1
    return {
        **whose(draft),
        "summarised": until if is_look_back and not draft.failure else 0,
        "counts": Jsonb(report.counts),
        "outcomes": Jsonb(report.outcomes),
        "plan": Jsonb([{"op": type(each).__name__, **_plain(each)} for each in plan.operations]),
        "spans": Jsonb(span_rows(draft.spans, first=FIRST_OF_RUN)),
        "calls": Jsonb(_calls(draft.model_calls)),
        "status": (TraceStatus.EXTRACTION_FAILED if draft.failure else TraceStatus.DONE).value,
        "error": draft.failure,
    }


def record_calls(*, end_user_id: UUID, trace_id: UUID, calls: Iterable[ModelCallRecord]) -> None:
    """Insert the calls of a run that came to nothing: they took time and perhaps money."""
    _execute(_CALLS, {"end_user": end_user_id, "trace": trace_id, "calls": Jsonb(_calls(calls))})


def fail_trace(*, end_user_id: UUID, trace_id: UUID, status: TraceStatus, error: str) -> None:
    """Say that a trace waits for another attempt (queued) or was given up (dead, extraction_failed)."""
    ended = None if status is TraceStatus.QUEUED else timezone.now()
    Trace.objects.filter(end_user_id=end_user_id, id=trace_id).update(
        status=status, error=error[:4_000], finished_at=ended
    )


def reopen(*, traces: Sequence[Trace]) -> None:
    """Queue ended traces again, without the spans of the run that ended them; model calls stay, for they were paid."""
    users, ids = {trace.end_user_id for trace in traces}, [trace.id for trace in traces]
    Span.objects.filter(end_user_id__in=users, trace_id__in=ids, position__gte=FIRST_OF_RUN).delete()
    Trace.objects.filter(end_user_id__in=users, id__in=ids).update(
        status=TraceStatus.QUEUED, outcomes=[], finished_at=None
    )


def whose(draft: Draft) -> dict[str, Any]:
    """Return what every row of a trace says of whose it is."""
    origin = draft.request.origin
    return {"trace": draft.request.trace_id, "end_user": origin.end_user_id, "session": origin.session_id}


def span_rows(spans: Iterable[DraftSpan], *, first: int) -> list[dict[str, Any]]:
    """Return the rows of spans, JSON-ready; `first` is the position of the first."""
    return [
        {"id": str(new_id()), "position": position, **_plain(span)} for position, span in enumerate(spans, start=first)
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
        }
        for call in calls
    ]


def _plain(value: object) -> dict[str, Any]:
    """Return a frozen value as plain JSON types."""
    plain: dict[str, Any] = msgspec.to_builtins(value, str_keys=True)
    return plain


def _execute(sql: str, values: dict[str, Any]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
