"""Limits per window of time. They are counted in the database, so they are exact over all processes."""

import time
from dataclasses import dataclass

from django.db import connection

PRUNED_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `most` events of a subject in each window of `seconds`; windows begin at multiples of their length."""

    subject: str
    most: int
    seconds: int


# Returns no row where the window has its maximum already. Concurrent callers wait for each other's row lock, so that
# no event is counted twice or missed; call it outside of transactions, which would hold the lock until they end.
_COUNT = """
insert into tenants_ratecounter (subject, window_start, ends_at, count)
select %(subject)s, start, start + %(seconds)s * interval '1 second', 1
from (select to_timestamp(floor(extract(epoch from clock_timestamp()) / %(seconds)s) * %(seconds)s) as start) begun
where %(most)s > 0
on conflict (subject, window_start) do update set count = tenants_ratecounter.count + 1
where tenants_ratecounter.count < %(most)s
returning 1
"""


def seconds_to_wait(limit: RateLimit) -> int:
    """Count an event; return 0, or how many seconds are left of a window that has its maximum already."""
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"subject": limit.subject, "seconds": limit.seconds, "most": limit.most})
        is_counted = cursor.fetchone() is not None
    return 0 if is_counted else limit.seconds - int(time.time()) % limit.seconds


def forget(subject: str) -> None:
    """Delete the counters of a subject."""
    with connection.cursor() as cursor:
        cursor.execute("delete from tenants_ratecounter where subject = %s", [subject])


_PRUNE = """
delete from tenants_ratecounter where id in (
    select id from tenants_ratecounter where ends_at < clock_timestamp() order by ends_at limit %s
    for update skip locked
)
"""


def prune_counters() -> int:
    """Delete the counters of past windows, up to PRUNED_AT_ONCE; return how many were deleted."""
    with connection.cursor() as cursor:
        cursor.execute(_PRUNE, [PRUNED_AT_ONCE])
        return int(cursor.rowcount)
