"""Quotas of projects and keys: requests per minute, stored memories and items, and dollars for models per day."""

from dataclasses import dataclass
from datetime import UTC, timedelta
from math import ceil
from uuid import UUID

from django.conf import settings
from django.db.models import Sum
from django.db.models.functions import Now

from apps.common.errors import Refused
from apps.intake.project_watch import ProjectWatch
from apps.items.models import StoredItem
from apps.memories.models import Memory
from apps.tenants.limits import RateLimit, seconds_to_wait
from apps.tenants.models import Project
from apps.traces.models import ModelCall, ModelTestCall

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


def check_quotas(*, project_id: UUID) -> None:
    """Raise QuotaExceeded if the project stores its maximum of memories or has spent its model budget of the day.

    Quotas are counted every 5 seconds beside the requests, so each process may exceed one by those of that time.
    """
    is_full, seconds_until_budget = _USAGE.state_of(project_id)
    if is_full:
        raise QuotaExceeded("the project stores its maximum of memories", retry_after=MINUTE * MINUTE)
    if seconds_until_budget:
        raise QuotaExceeded("the project has spent its model budget of the day", retry_after=seconds_until_budget)


def check_item_quota(*, project_id: UUID) -> None:
    """Raise QuotaExceeded if the project stores MAX_ITEMS items, when they were counted last."""
    if _ITEMS.state_of(project_id):
        raise QuotaExceeded("the project stores its maximum of items", retry_after=MINUTE * MINUTE)


def _read_usage(project_id: UUID) -> tuple[bool, int]:
    """Return whether the project has its maximum of live memories, and the seconds until its budget is renewed."""
    project = Project.objects.annotate(now=Now()).filter(id=project_id).first()
    if project is None:
        return False, 0
    most, is_full = project.max_memories, False
    if most is not None:
        is_full = Memory.objects.for_project(project_id).live().order_by()[:most].count() >= most
    if project.max_model_usd_per_day is None:
        return is_full, 0
    today = project.now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    calls = ModelCall.objects.filter(end_user__project_id=project_id, created_at__gte=today)
    tests = ModelTestCall.objects.filter(project_id=project_id, created_at__gte=today)
    spent = sum(made.aggregate(usd=Sum("cost_usd", default=0))["usd"] for made in (calls, tests))
    if spent < project.max_model_usd_per_day:
        return is_full, 0
    return is_full, ceil((today + timedelta(days=1) - project.now).total_seconds())


def _has_all_items(project_id: UUID) -> bool:
    stored = StoredItem.objects.filter(project_id=project_id).order_by()
    return stored[: settings.MAX_ITEMS].count() >= settings.MAX_ITEMS


_USAGE = ProjectWatch(count=_read_usage, every=COUNT_EVERY_SECONDS)
_ITEMS = ProjectWatch(count=_has_all_items, every=COUNT_EVERY_SECONDS)
