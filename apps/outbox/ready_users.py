"""Look for end users that can be leased, without a lock. All times are the database's.

One server looks for the queues by an index, then for the first users of each, however many wait. Several servers are
asked by each look, so there one plain statement reads the open leases, and the rest is found among these; where they
are many, as on one server.
"""

from itertools import chain
from uuid import UUID

from apps.outbox.fetch import fetch
from apps.outbox.ready_queues import all_queues, queues_among, queues_of_user
from apps.outbox.rotation import OpenLease, ReadyUser, first_of_queue, in_rotation
from apps.tenants.constant_statements import fetch_constant
from apps.tenants.scoped_connection import form_for_database

MOST_OPEN_LEASES = 1_000  # that one look reads

_READY = """
(select end_user_id, ready_at, %s::int from outbox_userlease
 where project_id = %s and waits_for = %s and ready_at <= %s
   and (leased_until is null or leased_until < statement_timestamp()) {only}
 order by ready_at {direction} limit %s)
"""
_OPEN_LEASES = """
select end_user_id, project_id, waits_for, ready_at,
    token is not null and leased_until >= statement_timestamp(),
    leased_until is null or leased_until < statement_timestamp()
from outbox_userlease where ready_at is not null or token is not null limit %s
"""


def ready_users(*, limit: int, outage_seconds: float, only: UUID | None = None) -> list[ReadyUser]:
    """Return up to `limit` users that can be leased, in the order in which they should be; `only` one, if given."""
    if only is not None:
        return look_by_queues(limit=limit, outage_seconds=outage_seconds, only=only)
    look = form_for_database(usual=look_by_queues, on_citus=look_at_open_leases)
    return look(limit=limit, outage_seconds=outage_seconds)


def look_by_queues(*, limit: int, outage_seconds: float, only: UUID | None = None) -> list[ReadyUser]:
    """Read the queues, then their first users."""
    if only is None:
        queues = all_queues(outage_seconds=outage_seconds)
    else:
        queues = queues_of_user(end_user_id=only, outage_seconds=outage_seconds)
    if not queues:
        return []
    parts, values = [], []
    for number, queue in enumerate(queues):
        direction = "desc" if queue.is_newest_first else ""
        parts.append(_READY.format(only="" if only is None else "and end_user_id = %s", direction=direction))
        most = 1 if queue.is_single_try else limit
        one = () if only is None else (only,)
        values.append((number, queue.project_id, queue.waits_for, queue.ready_by, *one, most))
    read = fetch_constant if len(queues) == 1 else fetch  # one queue is usual, and its statement one of a few
    rows = read(" union all ".join(parts), [*chain.from_iterable(values)])
    return in_rotation([ReadyUser(user, ready_at, queues[number]) for user, ready_at, number in rows], limit=limit)


def look_at_open_leases(*, limit: int, outage_seconds: float) -> list[ReadyUser]:
    """Read all open leases, then what their queues allow."""
    leases = [OpenLease(*row) for row in fetch_constant(_OPEN_LEASES, [MOST_OPEN_LEASES])]
    if len(leases) == MOST_OPEN_LEASES:
        return look_by_queues(limit=limit, outage_seconds=outage_seconds)
    queues = queues_among(leases=leases, outage_seconds=outage_seconds)
    ready = [each for queue in queues for each in first_of_queue(queue, leases, limit=limit)]
    return in_rotation(ready, limit=limit)
