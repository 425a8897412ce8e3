"""What only the owner of the ledger can do."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection


@contextmanager
def as_owner_without_triggers() -> Iterator[None]:
    """Do what only the owner of the table can."""
    with connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")
        cursor.execute("alter table memories_ledgerentry disable trigger user")
        yield
        for trigger in ("ledger_written", "ledger_append_only", "ledger_not_deleted"):
            cursor.execute(f"alter table memories_ledgerentry enable always trigger {trigger}")
