"""Conclude a run: close its trace, move its session's position, mark its work as done, and record what it did.

The inserts follow in the same transaction, as Citus takes none in CTEs.
"""

from django.db import connection, transaction

from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.plan import WritePlan
from apps.telemetry.metrics import count_stages
from apps.traces import recorder

_UPDATE = f"with {recorder.SESSION_LOCK_CTE}, held as (select from session_lock), {recorder.CLOSE_TRACE_CTES} select 1"
_HOLDER = "select %(end_user)s::uuid as owner_id"
_INSERTS = recorder.inserts_of_run(owner=f"({_HOLDER})")


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: NextWork) -> list[NextWork]:
    """Conclude a run in the caller's transaction, if there is one; return the user's remaining open work.

    Raises LostLease and writes nothing where another worker holds the lease.
    """
    is_session = work.kind is WorkKind.EXTRACT_SESSION
    values = recorder.close_trace_values(draft=draft, plan=plan, is_session_level=is_session)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(recorder._LOCK_SESSION, values)
        remaining = processing.finish(lease=lease, work=[work])
        cursor.execute(_UPDATE, values)
        for insert in _INSERTS:
            cursor.execute(insert, values)
    count_stages(draft.spans)
    return remaining
