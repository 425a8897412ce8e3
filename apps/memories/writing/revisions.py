"""Note which memories have changed, so that caches of an end user's memories read these again.

The revision is raised right before the commit, after all other locks: two writers of one end user wait for each other
at most for the length of a commit, and revisions rise in the order of commits. docs/decisions/search.md describes it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

from django.db import connection
from django.db.transaction import TransactionManagementError

from apps.tenants.constant_statements import fetch_constant, run_constant
from apps.tenants.scope import DatabaseScope, current_scope, entered
from apps.tenants.scoped_connection import scoped_connection

_LOCK = "select from memories_memoryrevision where end_user_id = %(end_user)s for update"
_BEGIN = """
insert into memories_memoryrevision as known (end_user_id, number) values (%(end_user)s, 0)
on conflict (end_user_id) do update set number = known.number
"""
# The number is drawn while the row is locked. The sequence never gives one again, not even after the row is gone.
_RAISE = """
insert into memories_memoryrevision (end_user_id, number) values (%(end_user)s, nextval('memories_revision'))
on conflict (end_user_id) do update set number = excluded.number
returning number
"""
_CLEAR = """
insert into memories_memoryrevision (end_user_id, number) values (%(end_user)s, nextval('memories_revision'))
on conflict (end_user_id) do update set number = excluded.number, cleared_at = excluded.number
"""
# The key has another column more where the table is split over several servers, but the same name.
_CHANGE = """
insert into memories_memorychange (id, end_user_id, number) values {rows}
on conflict on constraint memories_memorychange_pkey do update set number = excluded.number
"""
_AT_ONCE = 500  # rows of a statement


@dataclass(frozen=True, slots=True)
class ChangedMemories:
    """The memories of one end user that a transaction has changed, in the scope in which it did."""

    end_user_id: UUID
    scope: DatabaseScope
    memory_ids: set[UUID] = field(default_factory=set)

    def __call__(self) -> None:
        """Raise the revision, and store it with each memory."""
        with entered(self.scope):
            number = _next_revision(self.end_user_id)
            ordered = sorted(self.memory_ids)
            for first in range(0, len(ordered), _AT_ONCE):
                _store_changes(self.end_user_id, ordered[first : first + _AT_ONCE], number)


def note_changes(*, end_user_id: UUID, memory_ids: Iterable[UUID]) -> None:
    """Note that the open transaction changes, adds or deletes memories of an end user, or vectors of them.

    Raises TransactionManagementError outside of a transaction.
    """
    ids = set(memory_ids)
    if not ids:
        return
    database = scoped_connection()
    if not database.in_atomic_block:
        raise TransactionManagementError("changes of memories are noted in the transaction that makes them")
    changed = ChangedMemories(end_user_id, current_scope())
    noted = database.before_commit.setdefault(f"revision of {end_user_id}", changed)
    cast(ChangedMemories, noted).memory_ids.update(ids)


def clear_caches(*, end_user_id: UUID) -> None:
    """Raise the revision in the open transaction; what was cached before is void, and nothing is read again."""
    with connection.cursor() as cursor:
        cursor.execute(_CLEAR, {"end_user": end_user_id})


def _next_revision(end_user_id: UUID) -> int:
    values = {"end_user": end_user_id}
    if not fetch_constant(_LOCK, values):
        run_constant(_BEGIN, values)
    return int(fetch_constant(_RAISE, values)[0][0])


def _store_changes(end_user_id: UUID, memory_ids: Sequence[UUID], number: int) -> None:
    rows = ", ".join(["(%s, %s, %s)"] * len(memory_ids))
    with connection.cursor() as cursor:
        cursor.execute(
            _CHANGE.format(rows=rows), [value for each in memory_ids for value in (each, end_user_id, number)]
        )
