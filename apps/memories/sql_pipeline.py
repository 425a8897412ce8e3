"""Transactions whose conflicts with other writers are told as a stale plan."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from apps.memories.write_conflicts import stale_on_write_conflict


@contextmanager
def pipelined() -> Iterator[None]:
    """Raise StalePlan if a concurrent writer has written the same."""
    with stale_on_write_conflict():
        yield


@contextmanager
def pipelined_transaction() -> Iterator[None]:
    """Run the block in one transaction."""
    with transaction.atomic():
        yield
