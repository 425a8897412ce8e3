"""Limits of projects and keys: requests, stored memories and items, money for models, waiting turns."""

from collections.abc import Callable
from datetime import UTC, timedelta
from functools import partial
from math import ceil
from typing import TypeVar, cast
from uuid import UUID

from django.conf import settings
from django.core.cache import caches
from django.db.models import Sum
from django.db.models.functions import Now

from apps.common.errors import Refused
from apps.items.models import StoredItem
from apps.memories.models import Memory
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkKind, WorkState
from apps.tenants.limits import RateLimit, seconds_to_wait
from apps.tenants.models import Project
from apps.traces.models import ModelCall, ModelTestCall

COUNT_EVERY_SECONDS = 5
COUNT_QUEUE_EVERY_SECONDS = 1
IMPORT_SHARE = 0.5  # of the queue that an import fills, so that callers find room
MINUTE = 60
Counted = TypeVar("Counted")


class QuotaExceeded(Refused):
    """A quota of the project is used up; retry after `retry_after` seconds."""

    def __init__(self, message: str, *, retry_after: int) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class RateLimited(QuotaExceeded):
    """The key or the project has made its requests of this minute."""


class QueueFull(Refused):
    """The project's queue has reached its limit; retry after `retry_after` seconds."""

    retry_after = 5


def count_request(subject: str, *, most: int | None) -> None:
    """Count a request of a key or project. Raises RateLimited after `most` in this minute; None is any number."""
    if most is not None and (wait := seconds_to_wait(RateLimit(subject, most=most, seconds=MINUTE))):
        raise RateLimited(f"more than {most:,} requests in this minute", retry_after=wait)


def check_quotas(*, project_id: UUID) -> None:
    """Raise QuotaExceeded if the project stores its maximum of memories or has spent its model budget of the day.

    Quotas are counted every 5 seconds, so each process may exceed one by the requests of that time.
    """
    is_full, seconds_until_budget = _counted(_read_usage, project_id, every=COUNT_EVERY_SECONDS)
    if is_full:
        raise QuotaExceeded("the project stores its maximum of memories", retry_after=MINUTE * MINUTE)
    if seconds_until_budget:
        raise QuotaExceeded("the project has spent its model budget of the day", retry_after=seconds_until_budget)


def check_item_quota(*, project_id: UUID) -> None:
    """Raise QuotaExceeded if the project stores MAX_ITEMS items, when they were counted last."""
    if _counted(_has_all_items, project_id, every=COUNT_EVERY_SECONDS):
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


def _counted(count: Callable[[UUID], Counted], project_id: UUID, *, every: int) -> Counted:
    """Return what was last counted of a project in this process, or count: it takes longer the larger a project is."""
    name = f"{count.__name__}:{project_id}"
    return cast(Counted, caches["limits"].get_or_set(name, partial(count, project_id), timeout=every))


def check_queue_limit(*, project_id: UUID) -> None:
    """Raise QueueFull when the project's queue had reached its limit when it was counted last.

    It is counted once a second, so each process may exceed the limit by the requests of a second.
    """
    if _counted(_is_full, project_id, every=COUNT_QUEUE_EVERY_SECONDS):
        raise QueueFull("the project's queue is full; retry when earlier requests have been processed")


def check_room_for_import(*, project_id: UUID) -> None:
    """Raise QueueFull when so much waits that an import has to wait as well. It asks rarely, so it counts each time."""
    if _is_full(project_id, share=IMPORT_SHARE):
        raise QueueFull("the project's queue is half full; it goes on when earlier turns have been processed")


def _is_full(project_id: UUID, share: float = 1.0) -> bool:
    """Return True if a share of the queue is filled; False for a project that is gone."""
    most = Project.objects.filter(id=project_id).values_list("queue_limit", flat=True).first()
    if most is None:
        return False
    waiting = OutboxRow.objects.filter(project_id=project_id, state=WorkState.PENDING, kind=WorkKind.RUN_PIPELINE)
    # No more rows than the limit are read, as each has at least one turn.
    counted = waiting.order_by().values("turn_count")[:most]
    return bool(counted.aggregate(turns=Sum("turn_count", default=0))["turns"] >= most * share)
