"""Conclude a run: close its trace, move its session's position, mark its work as done, and record what it did.

The inserts follow in the same transaction, as Citus takes none in CTEs.
"""

from django.db import connection

from apps.memories.sql_pipeline import pipelined_transaction
from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.plan import WritePlan
from apps.telemetry.metrics import count_stages
from apps.traces import recorder

_UPDATE = f"""
with {recorder.SESSION_LOCK_CTE}, {processing.FINISH_CTES}, {recorder.CLOSE_TRACE_CTES} {processing.REMAINING_WORK}
"""
_HOLDER = "select end_user_id as owner_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s"
_INSERTS = recorder.inserts_of_run(owner=f"({_HOLDER})")  # after the updates, which have locked the lease


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: NextWork) -> list[NextWork]:
    """Conclude a run in the caller's transaction, if there is one; return the user's remaining open work.

    Raises LostLease and writes nothing where another worker holds the lease.
    """
    values = {
        **recorder.close_trace_values(draft=draft, plan=plan, is_session_level=work.kind is WorkKind.EXTRACT_SESSION),
        **processing.finish_values(lease=lease, work=[work]),
    }
    with pipelined_transaction(), connection.cursor() as cursor, connection.cursor() as inserting:
        cursor.execute(_UPDATE, values)
        for insert in _INSERTS:
            inserting.execute(insert, values)
        rows = cursor.fetchall()
    remaining = processing.remaining_work(rows, lease=lease)
    count_stages(draft.spans)
    return remaining
