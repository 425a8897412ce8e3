"""Delete done work, stored answers, invitations and test calls after their period, expired items and old events."""

from datetime import timedelta
from time import monotonic

from django.conf import settings
from django.db import connection

from apps.outbox.model_pauses import delete_unused_pauses
from apps.tenants.rate_limits import prune_counters
from apps.tenants.system_scope import SystemWork, system_scope

AN_HOUR = timedelta(hours=1)
A_DAY = timedelta(days=1)
BATCH = 5_000  # rows per statement, so that no statement runs long after a busy hour

# Each statement reads the oldest rows from an index over time, up to a time that is constant within the statement. It
# waits for a row that is being enqueued again, and reads its new state. The CTE is materialized, because a subquery
# might run again for each joined row and then find other rows.
_WORK = """
with past as materialized (
    select end_user_id, id from outbox_outboxrow
    where state = 'done' and finished_at < statement_timestamp() - %(seconds)s * interval '1 second'
    order by finished_at limit %(most)s
)
delete from outbox_outboxrow work using past
where work.end_user_id = past.end_user_id and work.id = past.id and work.state = 'done'
"""
_REQUESTS = """
with past as materialized (
    select id from traces_idempotentrequest where created_at < statement_timestamp() - %(seconds)s * interval '1 second'
    order by created_at limit %(most)s
)
delete from traces_idempotentrequest request using past where request.id = past.id
"""
# Invitations contain mail addresses. Both tables are small, and are read as a whole.
_INVITATIONS = """
delete from tenants_invitation where id in (
    select id from tenants_invitation where expires_at < statement_timestamp() - %(seconds)s * interval '1 second'
    limit %(most)s
)
"""
_TEST_CALLS = """
delete from traces_modeltestcall where id in (
    select id from traces_modeltestcall where created_at < statement_timestamp() - %(seconds)s * interval '1 second'
    limit %(most)s
)
"""
# A delivery is given up by its last attempt; one of a paused webhook, which has none, here.
_GIVE_UP = """
update events_webhookdelivery set state = 'failed', finished_at = statement_timestamp(),
    last_error = 'given up while its webhook was paused'
where id in (
    select id from events_webhookdelivery
    where state = 'waiting' and give_up_at < statement_timestamp() - %(seconds)s * interval '1 second'
    limit %(most)s
) and state = 'waiting'
"""
# What still waits is sent, or given up, before it is deleted.
_DELIVERIES = """
delete from events_webhookdelivery where id in (
    select id from events_webhookdelivery
    where created_at < statement_timestamp() - %(seconds)s * interval '1 second' and state <> 'waiting'
    order by created_at limit %(most)s
)
"""
_EVENTS = """
delete from events_projectevent where id in (
    select id from events_projectevent event
    where created_at < statement_timestamp() - %(seconds)s * interval '1 second' and number is not null
      and not exists (select from events_webhookdelivery where project_id = event.project_id and event_id = event.id)
    order by created_at limit %(most)s
)
"""
_ITEMS = """
delete from items_storeditem where id in (
    select id from items_storeditem where expires_at < statement_timestamp() - %(seconds)s * interval '1 second'
    order by expires_at limit %(most)s
) and expires_at < statement_timestamp() - %(seconds)s * interval '1 second'
"""


def prune(*, most: timedelta = AN_HOUR) -> int:
    """Delete what is older than its retention period, in batches that commit separately; return how many rows.

    What is left when the time is up is left for the next run. Dead work stays until a person retries or deletes it.
    """
    until = monotonic() + most.total_seconds()
    with system_scope(SystemWork.SCHEDULE):
        work = _delete_older(_WORK, than=timedelta(days=settings.WORK_RETENTION_DAYS), until=until)
        requests = _delete_older(_REQUESTS, than=timedelta(hours=settings.IDEMPOTENCY_KEPT_HOURS), until=until)
        invitations = _delete_older(_INVITATIONS, than=timedelta(days=settings.WORK_RETENTION_DAYS), until=until)
        test_calls = _delete_older(_TEST_CALLS, than=timedelta(days=settings.WORK_RETENTION_DAYS), until=until)
        items = _delete_older(_ITEMS, than=timedelta(), until=until)
        kept = timedelta(days=settings.EVENT_RETENTION_DAYS)
        _delete_older(_GIVE_UP, than=A_DAY, until=until)
        events = _delete_older(_DELIVERIES, than=kept, until=until) + _delete_older(_EVENTS, than=kept, until=until)
        pauses = delete_unused_pauses()
    return work + requests + invitations + test_calls + items + events + pauses + prune_counters()


def _delete_older(sql: str, *, than: timedelta, until: float) -> int:
    deleted = 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(sql, {"seconds": than.total_seconds(), "most": BATCH})
            deleted += cursor.rowcount
            if cursor.rowcount < BATCH or monotonic() >= until:
                return deleted
