"""Clear this process's caches of end users' texts after any process has erased an end user.

Cached data is never used without asking the database, so an erased text is never returned; this only frees memory.
"""

import sys
import threading
import time
from functools import _lru_cache_wrapper

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from apps.intake import session_cache

log = structlog.get_logger(__name__)

_lock = threading.Lock()
_next_check = 0.0
_seen: int | None = None


def clear_if_erased() -> None:
    """Clear the caches if an end user was erased since the last check; checks every ERASED_CACHE_SECONDS at most."""
    if not settings.ERASED_CACHE_SECONDS or not _is_due():
        return
    try:
        check()
    except DatabaseError as error:
        log.warning("erasures not checked", error=str(error))


def check() -> bool:
    """Clear the caches if the number of erasures has changed; return True if it has."""
    global _seen
    with connection.cursor() as cursor:
        # A sequence has its first number as last_value before it was used as well as after.
        cursor.execute("select last_value + is_called::int from tenants_erasure_number")
        number = cursor.fetchone()[0]
    seen, _seen = _seen, number
    if seen == number:
        return False
    clear()
    return True


def clear() -> None:
    """Clear all caches of texts."""
    session_cache.forget()
    for name, module in list(sys.modules.items()):
        if name.startswith("apps.pipeline."):
            for value in vars(module).values():
                if isinstance(value, _lru_cache_wrapper):
                    value.cache_clear()


def _is_due() -> bool:
    global _next_check
    with _lock:
        now = time.monotonic()
        if now < _next_check:
            return False
        _next_check = now + settings.ERASED_CACHE_SECONDS
        return True
