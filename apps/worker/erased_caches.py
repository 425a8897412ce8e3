"""Clear this process's caches of texts from time to time, so that the texts of erased end users leave its memory.

Cached data is never used without asking the database, so an erased text is never returned; this only frees memory.
"""

import sys
import threading
import time
from functools import _lru_cache_wrapper

from django.conf import settings

_lock = threading.Lock()
_cleared_at = time.monotonic()


def clear_if_due() -> None:
    """Clear the caches every ERASED_CACHE_SECONDS at most."""
    global _cleared_at
    if not settings.ERASED_CACHE_SECONDS:
        return
    with _lock:
        if time.monotonic() - _cleared_at < settings.ERASED_CACHE_SECONDS:
            return
        _cleared_at = time.monotonic()
    clear()


def clear() -> None:
    """Clear all caches of texts."""
    for name, module in list(sys.modules.items()):
        if name.startswith("apps.pipeline."):
            for value in vars(module).values():
                # A cache of one value keeps what the product ships, such as a table.
                if isinstance(value, _lru_cache_wrapper) and value.cache_parameters()["maxsize"] != 1:
                    value.cache_clear()
