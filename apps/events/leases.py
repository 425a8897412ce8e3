"""Which webhooks have something to deliver, and which process delivers it. All times are the database's."""

from typing import Any
from uuid import UUID

from django.db import connection

MOST_DUE = 200  # deliveries that are read at a time

# Projects take turns: first those with the fewest webhooks in flight, then the one that was served longest ago. Within
# a project the webhook that has waited longest comes first.
_CLAIM = """
with due as (
    select id, project_id, resume_at from events_webhook candidate
    where paused_at is null and resume_at <= statement_timestamp()
      and (leased_until is null or leased_until <= statement_timestamp())
      and id = any(%(due)s::uuid[])
), projects as (
    select project_id, count(*) filter (where leased_until > statement_timestamp()) as in_flight,
           max(resume_at) filter (where resume_at <= statement_timestamp()) as served_at
    from events_webhook where project_id in (select project_id from due) group by project_id
), places as (
    select due.id, projects.served_at, due.resume_at,
           projects.in_flight + row_number() over (partition by due.project_id order by due.resume_at) as place
    from due join projects using (project_id)
), claimed as (
    select webhook.id from events_webhook webhook join places using (id)
    where webhook.leased_until is null or webhook.leased_until <= statement_timestamp()
    order by place, places.served_at, places.resume_at
    limit %(most)s for no key update of webhook skip locked
)
update events_webhook webhook set leased_until = statement_timestamp() + %(seconds)s * interval '1 second'
from claimed where webhook.id = claimed.id
returning webhook.id, webhook.project_id
"""
# By a statement of its own: Citus does not join deliveries, which are on several servers, to webhooks on one.
_WITH_DUE = """
select distinct webhook_id from events_webhookdelivery where state = 'waiting' and next_try_at <= statement_timestamp()
"""
# A delivery waits for those before it that tell of the same end user.
_DUE = """
select delivery.id, coalesce(delivery.end_user_id, delivery.id) from events_webhookdelivery delivery
where project_id = %(project)s and webhook_id = %(webhook)s and state = 'waiting'
  and next_try_at <= clock_timestamp() and not exists (
    select from events_webhookdelivery earlier
    where earlier.project_id = delivery.project_id and earlier.webhook_id = %(webhook)s
      and earlier.end_user_id = delivery.end_user_id
      and earlier.state = 'waiting' and earlier.number < delivery.number and earlier.next_try_at > clock_timestamp()
)
order by number limit %(most)s
"""


def claim_webhooks(*, most: int, seconds: float) -> list[tuple[UUID, UUID]]:
    """Claim webhooks with due deliveries for so long, projects in turn; return each with its project."""
    due = [webhook_id for (webhook_id,) in _fetch(_WITH_DUE, None)]
    return _fetch(_CLAIM, {"most": most, "seconds": seconds, "due": due}) if due else []


def due_deliveries(*, project_id: UUID, webhook_id: UUID) -> list[list[UUID]]:
    """Return due deliveries of a webhook by end user, each user's in the order of the events."""
    by_user: dict[UUID, list[UUID]] = {}
    for delivery_id, user in _fetch(_DUE, {"project": project_id, "webhook": webhook_id, "most": MOST_DUE}):
        by_user.setdefault(user, []).append(delivery_id)
    return list(by_user.values())


def _fetch(sql: str, values: dict[str, Any] | None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return cursor.fetchall()
