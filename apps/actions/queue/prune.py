"""Remove past work and the answers to repeatable requests, once nobody asks for them any more."""

from datetime import timedelta

from django.conf import settings
from django.db import connection

from apps.outbox.model_pauses import delete_unused_pauses

AT_ONCE = 5_000  # rows a statement, so that none runs long after a busy hour

# Each reads the oldest rows from its index over time, which a time that is the same for the whole statement ends; a
# row that is owed again meanwhile is locked, and stays. They are read once: a subquery may run again for each row that
# it is joined to, and then finds others.
_WORK = """
with past as materialized (
    select end_user_id, id from outbox_outboxrow
    where state = 'done' and finished_at < statement_timestamp() - %(seconds)s * interval '1 second'
    order by finished_at limit %(most)s for update skip locked
)
delete from outbox_outboxrow work using past
where work.end_user_id = past.end_user_id and work.id = past.id
"""
_REQUESTS = """
with past as materialized (
    select id from traces_idempotentrequest where created_at < statement_timestamp() - %(seconds)s * interval '1 second'
    order by created_at limit %(most)s for update skip locked
)
delete from traces_idempotentrequest request using past where request.id = past.id
"""


def prune() -> int:
    """Remove what is older than the settings keep it, in batches that commit one by one; return how many rows went.

    Work that is dead stays until a person retries or removes it.
    """
    work = _remove(_WORK, kept=timedelta(days=settings.WORK_RETENTION_DAYS))
    requests = _remove(_REQUESTS, kept=timedelta(hours=settings.IDEMPOTENCY_KEPT_HOURS))
    return work + requests + delete_unused_pauses()


def _remove(sql: str, *, kept: timedelta) -> int:
    removed = 0
    while (some := _remove_some(sql, kept=kept)) == AT_ONCE:
        removed += some
    return removed + some


def _remove_some(sql: str, *, kept: timedelta) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, {"seconds": kept.total_seconds(), "most": AT_ONCE})
        return int(cursor.rowcount)
