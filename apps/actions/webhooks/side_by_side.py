"""Do pieces of work that mostly wait for others, side by side in threads; a single one needs no thread."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context

from django.db import connection


def side_by_side(work: Sequence[Callable[[], None]], *, at_once: int) -> None:
    """Do all pieces, each in the scope of the caller; raise what the first failing one raises, once all are done.

    In a transaction they are done one after another: other threads would see nothing of it.
    """
    if len(work) == 1 or connection.in_atomic_block:
        for each in work:
            each()
        return
    release_connection()
    with ThreadPoolExecutor(at_once, thread_name_prefix="side-by-side") as threads:
        running = [threads.submit(copy_context().run, _with_own_connection, each) for each in work]
    for done in running:
        done.result()


def release_connection() -> None:
    """Return this thread's connection to the pool, as it only waits now."""
    if not connection.in_atomic_block:
        connection.close()


def _with_own_connection(piece: Callable[[], None]) -> None:
    try:
        piece()
    finally:
        connection.close()
