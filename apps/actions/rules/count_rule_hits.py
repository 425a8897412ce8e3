"""Count how often each pre-filter rule has dropped a turn, apart from intake: its rows would be fought over there."""

from django.db import connection

AT_ONCE = 5_000  # turns a statement, so that none runs long after a busy hour

# A turn is marked and counted by one statement. Of two runs at the same time, the second waits for the rows of the
# first, finds them marked and passes over them.
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
    """Add each dropped turn to its rule's count, exactly once; return how many turns were new.

    A rule that was renamed or deleted since loses the hits that were not counted by then.
    """
    counted = 0
    while marked := _count_some():
        counted += marked
    return counted


def _count_some() -> int:
    with connection.cursor() as cursor:
        cursor.execute(_COUNT, {"most": AT_ONCE})
        (marked,) = cursor.fetchone()
    return int(marked)
