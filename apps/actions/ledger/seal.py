"""Seal the ledger: give new entries their place in the hash chain of their project.

The hash of an entry covers the hash before it, so that nobody can change, remove or insert an entry without breaking
the chain behind it. Writers of one project would have to wait for each other if each computed the next hash; so they
write entries without a place, and this task, the only one at a time, places them in the order in which it finds them.
"""

import hashlib
from collections.abc import Sequence
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
from django.db import connection, transaction

from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.tenants.system_scope import SystemWork, system_scope

AN_HOUR = timedelta(hours=1)
AT_ONCE = 1_000  # entries per transaction
FIRST_HASH = "0" * 64  # before the first entry of a project
_LOCK = 7_204_412  # key of the advisory lock that lets one process seal at a time
_FIELDS = (
    "id", "project_id", "end_user_id", "actor", "verb", "object_kind", "object_id", "trace_id", "details", "created_at",
)  # fmt: skip
_SEAL = """
update memories_ledgerentry entry set number = sealed.number, hash = sealed.hash
from unnest(%(ids)s::uuid[], %(numbers)s::bigint[], %(hashes)s::text[]) as sealed(id, number, hash)
where entry.id = sealed.id and entry.number is null
"""


def seal_ledger(*, most: timedelta = AN_HOUR) -> int:
    """Seal the entries that are committed; return how many these were. Time that is up leaves the rest unsealed."""
    until = monotonic() + most.total_seconds()
    projects = LedgerEntry.objects.filter(number__isnull=True).order_by().values_list("project_id", flat=True)
    with system_scope(SystemWork.LEDGER):
        return sum(_seal_project(project_id, until=until) for project_id in list(projects.distinct()))


def _seal_project(project_id: UUID, *, until: float) -> int:
    sealed = 0
    while monotonic() < until and (some := _seal_some(project_id)):
        sealed += some
    return sealed


def _seal_some(project_id: UUID) -> int:
    """Seal up to AT_ONCE entries; return 0 if none is left, or another process is sealing."""
    with transaction.atomic():
        if not _is_alone():
            return 0
        unsealed = LedgerEntry.objects.filter(project_id=project_id, number__isnull=True).order_by("id")
        entries = list(unsealed.values(*_FIELDS)[:AT_ONCE])
        number, last = last_sealed(project_id)
        hashes: list[str] = []
        for entry in entries:
            last = chained_hash(last, entry)
            hashes.append(last)
        _write(entries, hashes, first=number + 1)
    return len(entries)


def _is_alone() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("select pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def last_sealed(project_id: UUID) -> tuple[int, str]:
    """Return number and hash of the last sealed entry of a project, or those with which its chain begins."""
    sealed = LedgerEntry.objects.filter(project_id=project_id, number__isnull=False).order_by("-number")
    number, digest = sealed.values_list("number", "hash").first() or (None, "")
    return beginning(project_id) if number is None else (number, digest)


def beginning(project_id: UUID) -> tuple[int, str]:
    """Return number and hash before the oldest entry that the retention period has left."""
    checkpoints = LedgerCheckpoint.objects.filter(project_id=project_id).order_by("-number")
    return checkpoints.values_list("number", "hash").first() or (0, FIRST_HASH)


def chained_hash(previous: str, entry: dict[str, Any]) -> str:
    """Hash the previous hash and the canonical JSON of an entry (SHA-256, hexadecimal)."""
    canonical = msgspec.json.encode({name: entry[name] for name in _FIELDS}, order="sorted")
    return hashlib.sha256(previous.encode() + canonical).hexdigest()


def _write(entries: Sequence[dict[str, Any]], hashes: Sequence[str], *, first: int) -> None:
    values = {
        "ids": [entry["id"] for entry in entries],
        "numbers": list(range(first, first + len(entries))),
        "hashes": list(hashes),
    }
    with connection.cursor() as cursor:
        cursor.execute(_SEAL, values)
