"""Conclude a run: close its trace, move its session's position, mark its work as done, and record what it did.

This is one statement. Citus takes no inserts in CTEs; there they follow in the same transaction.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from apps.memories.sql_pipeline import pipelined_transaction
from apps.outbox import processing
from apps.outbox.leases import Lease
from apps.outbox.scheduling import NextWork
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.plan import WritePlan
from apps.telemetry.metrics import count_stages
from apps.tenants.constant_statements import fetch_constant
from apps.tenants.scoped_connection import form_for_database
from apps.traces import recorder

_UPDATES = f"with {recorder.SESSION_LOCK_CTE}, {processing.FINISH_CTES}, {recorder.CLOSE_TRACE_CTES}"
_INSERTS = recorder.inserts_of_run(owner="(select end_user_id as owner_id from held)")
_INSERT_CTES = ", ".join(f"inserted_{number} as ({insert})" for number, insert in enumerate(_INSERTS))
_CONCLUDE = f"{_UPDATES}, {_INSERT_CTES} {processing.REMAINING_WORK}"

_UPDATE_ALONE = f"{_UPDATES} {processing.REMAINING_WORK}"
_HOLDER = "select end_user_id as owner_id from outbox_userlease where end_user_id = %(end_user)s and token = %(token)s"
_INSERTS_ALONE = recorder.inserts_of_run(owner=f"({_HOLDER})")  # after the updates, which have locked the lease


def conclude(*, draft: Draft, plan: WritePlan, lease: Lease, work: NextWork) -> list[NextWork]:
    """Conclude a run in the caller's transaction, if there is one; return the user's remaining open work.

    Raises LostLease and writes nothing where another worker holds the lease.
    """
    values = {
        **recorder.close_trace_values(draft=draft, plan=plan, is_session_level=work.kind is WorkKind.EXTRACT_SESSION),
        **processing.finish_values(lease=lease, work=[work]),
    }
    write = form_for_database(usual=_conclude_at_once, on_citus=_conclude_one_by_one)
    remaining = processing.remaining_work(write(values), lease=lease)
    count_stages(draft.spans)
    return remaining


def _conclude_at_once(values: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
    return fetch_constant(_CONCLUDE, values)


def _conclude_one_by_one(values: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
    with pipelined_transaction(), connection.cursor() as cursor, connection.cursor() as inserting:
        cursor.execute(_UPDATE_ALONE, values)
        for insert in _INSERTS_ALONE:
            inserting.execute(insert, values)
        return cursor.fetchall()
