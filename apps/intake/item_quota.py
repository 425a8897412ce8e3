"""The quota of items: how many a project may store."""

from uuid import UUID

from django.conf import settings

from apps.intake.project_watch import ProjectWatch
from apps.intake.quotas import COUNT_EVERY_SECONDS, MINUTE, QuotaExceeded
from apps.items.models import StoredItem


def check_item_quota(*, project_id: UUID) -> None:
    """Raise QuotaExceeded if the project stores MAX_ITEMS items.

    They are counted every 5 seconds beside the requests, so each process may exceed the quota by those of that time.
    """
    if _ITEMS.state_of(project_id):
        raise QuotaExceeded("the project stores its maximum of items", retry_after=MINUTE * MINUTE)


def _is_full(project_id: UUID) -> bool:
    stored = StoredItem.objects.filter(project_id=project_id).order_by()
    return stored[: settings.MAX_ITEMS].count() >= settings.MAX_ITEMS


_ITEMS = ProjectWatch(count=_is_full, every=COUNT_EVERY_SECONDS)
