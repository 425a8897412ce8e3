"""Seal the ledger: give new entries their place in the hash chain of their project.

The hash of an entry covers the hash before it, so that nobody can change, remove or insert an entry without breaking
the chain behind it. Writers of one project would have to wait for each other if each computed the next hash; so they
write entries without a place, and this task, the only one at a time, places them in the order in which it finds them.
"""

import hashlib
from datetime import timedelta
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
from django.db import transaction
from django.db.models import BooleanField, Func, Value

from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.tenants.system_scope import SystemWork, system_scope

AN_HOUR = timedelta(hours=1)
AT_ONCE = 1_000  # entries per transaction
FIRST_HASH = "0" * 64  # before the first entry of a project
_LOCK = 7_204_412  # key of the advisory lock that lets one process seal at a time
_FIELDS = (
    "id", "project_id", "end_user_id", "actor", "verb", "object_kind", "object_id", "trace_id", "details", "created_at",
)  # fmt: skip


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
    is_alone = Func(Value(_LOCK), function="pg_try_advisory_xact_lock", output_field=BooleanField())
    with transaction.atomic():
        unsealed = LedgerEntry.objects.filter(project_id=project_id, number__isnull=True).order_by("id")
        if not unsealed.values_list(is_alone, flat=True).first():
            return 0
        entries = list(unsealed.values(*_FIELDS)[:AT_ONCE])
        number, last = last_sealed(project_id)
        sealed: list[LedgerEntry] = []
        for place, entry in enumerate(entries, start=number + 1):
            last = chained_hash(last, entry)
            sealed.append(LedgerEntry(id=entry["id"], number=place, hash=last))
        unsealed.bulk_update(sealed, ["number", "hash"])
    return len(entries)


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
