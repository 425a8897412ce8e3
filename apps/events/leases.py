"""Which webhooks have something to deliver, and which process delivers it. All times are the database's."""

from uuid import UUID

from django.db import connection

MOST_DUE = 200  # deliveries that are read at a time

# Projects take turns: first those with the fewest webhooks in flight, then the one that was served longest ago. Within
# a project the webhook that has waited longest comes first.
_CLAIM = """
with due as (
    select id, project_id, resume_at from events_webhook candidate
    where paused_at is null and resume_at <= clock_timestamp()
      and (leased_until is null or leased_until <= clock_timestamp())
      and exists (select from events_webhookdelivery delivery
                  where delivery.webhook_id = candidate.id and state = 'waiting' and next_try_at <= clock_timestamp())
), projects as (
    select project_id, count(*) filter (where leased_until > clock_timestamp()) as in_flight,
           max(resume_at) filter (where resume_at <= clock_timestamp()) as served_at
    from events_webhook where project_id in (select project_id from due) group by project_id
), places as (
    select due.id, projects.served_at, due.resume_at,
           projects.in_flight + row_number() over (partition by due.project_id order by due.resume_at) as place
    from due join projects using (project_id)
), claimed as (
    select webhook.id from events_webhook webhook join places using (id)
    where webhook.leased_until is null or webhook.leased_until <= clock_timestamp()
    order by place, places.served_at, places.resume_at
    limit %(most)s for no key update of webhook skip locked
)
update events_webhook webhook set leased_until = clock_timestamp() + %(seconds)s * interval '1 second'
from claimed where webhook.id = claimed.id
returning webhook.id, webhook.project_id
"""
# A delivery waits for those before it that tell of the same end user.
_DUE = """
select delivery.id, coalesce(delivery.end_user_id, delivery.id) from events_webhookdelivery delivery
where webhook_id = %(webhook)s and state = 'waiting' and next_try_at <= clock_timestamp() and not exists (
    select from events_webhookdelivery earlier
    where earlier.webhook_id = %(webhook)s and earlier.end_user_id = delivery.end_user_id
      and earlier.state = 'waiting' and earlier.number < delivery.number and earlier.next_try_at > clock_timestamp()
)
order by number limit %(most)s
"""


def claim_webhooks(*, most: int, seconds: float) -> list[tuple[UUID, UUID]]:
    """Claim webhooks with due deliveries for so long, projects in turn; return each with its project."""
    return _fetch(_CLAIM, {"most": most, "seconds": seconds})


def due_deliveries(*, webhook_id: UUID) -> list[list[UUID]]:
    """Return due deliveries of a webhook by end user, each user's in the order of the events."""
    by_user: dict[UUID, list[UUID]] = {}
    for delivery_id, user in _fetch(_DUE, {"webhook": webhook_id, "most": MOST_DUE}):
        by_user.setdefault(user, []).append(delivery_id)
    return list(by_user.values())


def _fetch(sql: str, values: dict[str, object]) -> list[tuple[UUID, UUID]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)  # type: ignore[arg-type]  # UUIDs and numbers
        return cursor.fetchall()
