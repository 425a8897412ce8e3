"""How many callers of one process may wait for their outcome at once: each holds a thread of the web server."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

_lock = threading.Lock()
_waiting = 0


@contextmanager
def permit_to_wait() -> Iterator[bool]:
    """Yield True while a caller may wait, False if SYNC_REQUESTS others of this process do so already."""
    global _waiting
    with _lock:
        is_permitted = _waiting < settings.SYNC_REQUESTS
        _waiting += is_permitted
    try:
        yield is_permitted
    finally:
        with _lock:
            _waiting -= is_permitted
