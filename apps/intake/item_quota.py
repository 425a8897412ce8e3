"""The quota of items: how many a project may store."""

import threading
from uuid import UUID

from cachetools import TTLCache
from django.conf import settings
from django.db import connection

from apps.intake.quotas import CHECK_EVERY_SECONDS, MINUTE, MOST_PROJECTS, QuotaExceeded

_COUNT = "select count(*) from (select from items_storeditem where project_id = %s limit %s) stored"
_is_full: TTLCache[UUID, bool] = TTLCache(maxsize=MOST_PROJECTS, ttl=CHECK_EVERY_SECONDS)
_lock = threading.Lock()


def check_item_quota(*, project_id: UUID) -> None:
    """Raise QuotaExceeded if the project stores MAX_ITEMS items.

    The result is cached for 5 seconds per process, so the quota can be exceeded by the requests of that time.
    """
    with _lock:
        is_full = _is_full.get(project_id)
    if is_full is None:
        with connection.cursor() as cursor:
            cursor.execute(_COUNT, [project_id, settings.MAX_ITEMS])
            is_full = cursor.fetchone()[0] >= settings.MAX_ITEMS
        with _lock:
            _is_full[project_id] = is_full
    if is_full:
        raise QuotaExceeded("the project stores its maximum of items", retry_after=MINUTE * MINUTE)
