"""Quotas of projects and keys: requests per minute, stored memories, and dollars for models per day."""

from dataclasses import dataclass
from uuid import UUID

from apps.actions.errors import Refused
from apps.intake.project_watch import ProjectWatch
from apps.outbox.fetch import fetch
from apps.tenants.rate_limits import RateLimit, seconds_to_wait

COUNT_EVERY_SECONDS = 5.0
MINUTE = 60


class QuotaExceeded(Refused):
    """A quota of the project is used up; retry after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RateLimited(QuotaExceeded):
    """The key or the project has made its requests of this minute."""


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Requests per minute of a key and of its project; None for any number."""

    of_key: int | None = None
    of_project: int | None = None


NO_LIMITS = RequestLimits()


def count_request(*, project_id: UUID, api_key_id: UUID, limits: RequestLimits) -> None:
    """Count a request of a key. Raises RateLimited if the key or the project has made its requests."""
    if limits.of_key is not None:
        _count(f"key:{api_key_id}", limits.of_key)
    if limits.of_project is not None:
        _count(f"project:{project_id}", limits.of_project)


def _count(subject: str, most: int) -> None:
    if wait := seconds_to_wait(RateLimit(subject, most=most, seconds=MINUTE)):
        raise RateLimited(f"more than {most:,} requests in this minute", retry_after=wait)


# Nothing is counted without a quota. The quotas are read before: a subquery of distributed tables can't refer to a row
# of another table.
_QUOTAS = "select max_memories, max_model_usd_per_day from tenants_project where id = %s"
_LIVE_MEMORIES = """
select count(*) from (
    select 1 from memories_memory where project_id = %s and status in ('active', 'pending_review') limit %s
) live
"""
# What models have cost today, in UTC, and the seconds until tomorrow.
_SPENT = """
select (
    select coalesce(sum(cost_usd), 0) from traces_modelcall call
    join tenants_enduser owner on owner.id = call.end_user_id
    where owner.project_id = %(project)s and call.created_at >= date_trunc('day', now(), 'UTC')
) + (
    select coalesce(sum(cost_usd), 0) from traces_modeltestcall test
    where test.project_id = %(project)s and test.created_at >= date_trunc('day', now(), 'UTC')
), ceil(extract(epoch from date_trunc('day', now(), 'UTC') + interval '1 day' - now()))::int
"""


def check_quotas(*, project_id: UUID) -> None:
    """Raise QuotaExceeded if the project stores its maximum of memories or has spent its model budget of the day.

    Both are counted every 5 seconds beside the requests, so each process may exceed a quota by those of that time.
    """
    is_full, seconds_until_budget = _USAGE.state_of(project_id)
    if is_full:
        raise QuotaExceeded("the project stores its maximum of memories", retry_after=MINUTE * MINUTE)
    if seconds_until_budget:
        raise QuotaExceeded("the project has spent its model budget of the day", retry_after=seconds_until_budget)


def _read_usage(project_id: UUID) -> tuple[bool, int]:
    """Return whether the project has its maximum of live memories, and the seconds until its budget is renewed."""
    quotas = fetch(_QUOTAS, [project_id])
    if not quotas:
        return False, 0
    ((max_memories, max_usd),) = quotas
    is_full = max_memories is not None and fetch(_LIVE_MEMORIES, [project_id, max_memories])[0][0] >= max_memories
    if max_usd is None:
        return is_full, 0
    ((spent, seconds_left),) = fetch(_SPENT, {"project": project_id})
    return is_full, seconds_left if spent >= max_usd else 0


_USAGE = ProjectWatch(count=_read_usage, every=COUNT_EVERY_SECONDS)
