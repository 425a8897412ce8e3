"""Conclude a run: close its trace, move its session's position, mark its work as done, and record what it did."""

from django.db import connection

from apps.memories.sql_pipeline import pipelined_transaction
from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.plan import WritePlan
from apps.telemetry.stages import count_stages
from apps.traces import recorder

_CONCLUDE = (
    f"with {recorder.SESSION_LOCK_CTE}, {processing.FINISH_CTES}, {recorder.CLOSE_TRACE_CTES}"
    f" {processing.REMAINING_WORK}"
)


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: NextWork) -> list[NextWork]:
    """Conclude a run in the caller's transaction, if there is one; return the user's remaining open work.

    Raises LostLease and writes nothing where another worker holds the lease.
    """
    values = {
        **recorder.close_trace_values(draft=draft, plan=plan, is_session_level=work.kind is WorkKind.EXTRACT_SESSION),
        **processing.finish_values(lease=lease, work=[work]),
    }
    with pipelined_transaction(), connection.cursor() as cursor:
        cursor.execute(_CONCLUDE, values)
        recorder.record_run(draft=draft, values=values)
        remaining = processing.remaining_work(cursor.fetchall(), lease=lease)
    count_stages(draft.spans)
    return remaining
