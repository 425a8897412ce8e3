"""Look for end users that can be leased, without a lock: the queues, then the first users of each.

All times are the database's.
"""

from itertools import chain
from uuid import UUID

from apps.outbox.fetch import fetch
from apps.outbox.ready_queues import all_queues, queues_of_user
from apps.outbox.rotation import ReadyUser, in_rotation
from apps.tenants.constant_statements import fetch_constant

_READY = """
(select end_user_id, ready_at, %s::int from outbox_userlease
 where project_id = %s and waits_for = %s and ready_at <= %s
   and (leased_until is null or leased_until < statement_timestamp()) {only}
 order by ready_at {direction} limit %s)
"""


def ready_users(*, limit: int, outage_seconds: float, only: UUID | None = None) -> list[ReadyUser]:
    """Return up to `limit` users that can be leased, in the order in which they should be; `only` one, if given."""
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
