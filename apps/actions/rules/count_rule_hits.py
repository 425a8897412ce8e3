"""Count how often each pre-filter rule has dropped a turn; in the request, the rows of rules would be a bottleneck."""

from django.db import connection

from apps.tenants.system_scope import SystemWork, system_scope

BATCH = 5_000  # turns per statement, so that no statement runs long after a busy hour

# One statement marks and counts a turn. If two run at the same time, the second waits for the rows of the first, finds
# them marked and skips them.
_COUNT = """
with fresh as (
    select end_user_id, id from traces_turn
    where not hit_counted and rejected_by <> '' order by received_at limit %(most)s
), marked as (
    update traces_turn turn set hit_counted = true from fresh
    where turn.end_user_id = fresh.end_user_id and turn.id = fresh.id and not turn.hit_counted
    returning turn.end_user_id, turn.rejected_by, turn.received_at
), hits as (
    select person.project_id, marked.rejected_by, count(*) as hits, max(marked.received_at) as last_at
    from marked join tenants_enduser person on person.id = marked.end_user_id
    group by person.project_id, marked.rejected_by
), added as (
    update traces_prefilterrule rule
    set hit_count = rule.hit_count + hits.hits, last_hit_at = greatest(rule.last_hit_at, hits.last_at)
    from hits where rule.project_id = hits.project_id and rule.name = hits.rejected_by
)
select count(*) from marked
"""


def count_rule_hits() -> int:
    """Add each dropped turn to its rule's count exactly once; return how many turns were counted.

    Hits that were not counted before their rule was renamed or deleted are lost.
    """
    counted = 0
    while True:
        with system_scope(SystemWork.SCHEDULE), connection.cursor() as cursor:
            cursor.execute(_COUNT, {"most": BATCH})
            (marked,) = cursor.fetchone()
        if not marked:
            return counted
        counted += int(marked)
