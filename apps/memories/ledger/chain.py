"""Seal, verify, archive and export the ledger."""

import gzip
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from pathlib import Path
from time import monotonic
from typing import Any
from uuid import UUID

import msgspec
import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import BooleanField, Func, QuerySet, Value

from apps.memories.ledger.record import record
from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.tenants.scope import tenant_scope
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


_HASHED = (
    "id", "project_id", "end_user_id", "actor", "verb", "object_kind", "object_id", "trace_id", "details", "created_at",
    "number", "hash",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """The verified entries of a project, and the first one that does not fit, if there is any.

    `head_number` and `head_hash` belong to the last entry that fits: who has noted an earlier head elsewhere sees
    whether the end of the chain was cut off.
    """

    entries: int
    unsealed: int
    head_number: int
    head_hash: str
    broken_number: int | None = None
    broken_entry: UUID | None = None  # None if the entry with this number is missing

    @property
    def is_intact(self) -> bool:
        """Return True if every sealed entry fits."""
        return self.broken_number is None


def verify_ledger(*, project_id: UUID) -> LedgerReport:
    """Compute the chain of a project again and compare it; entries that are not sealed yet are only counted."""
    with tenant_scope(project_id=project_id):
        return _verify(project_id)


def _verify(project_id: UUID) -> LedgerReport:
    rows = LedgerEntry.objects.filter(project_id=project_id)
    unsealed = rows.filter(number__isnull=True).count()
    first, last = beginning(project_id)
    number = first
    for entry in rows.filter(number__gt=first).order_by("number").values(*_HASHED).iterator(chunk_size=1_000):
        expected = chained_hash(last, entry)
        if entry["number"] != number + 1:
            return LedgerReport(number - first, unsealed, number, last, broken_number=number + 1)
        if entry["hash"] != expected:
            return LedgerReport(number - first, unsealed, number, last, number + 1, entry["id"])
        number, last = entry["number"], expected
    return LedgerReport(number - first, unsealed, number, last)


def archive_entries(*, project_id: UUID, entries: Sequence[dict[str, Any]]) -> Path:
    """Write sealed entries, in the order of their numbers, to a file that is complete or absent; return its path.

    Raises OSError.
    """
    folder = _folder(project_id)
    folder.mkdir(parents=True, exist_ok=True)
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    path = folder / f"{entries[0]['number']:012}-{entries[-1]['number']:012}.jsonl.gz"
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with part.open("wb") as made:
        made.write(gzip.compress(lines))
        made.flush()
        os.fsync(made.fileno())
    return part.replace(path)


def verify_archive(*, project_id: UUID) -> LedgerReport:
    """Compute the chain of the archived entries again, up to where that of the database begins.

    Raises OSError and msgspec.DecodeError for a file that can't be read.
    """
    with tenant_scope(project_id=project_id):
        until, until_hash = beginning(project_id)
    number, last = 0, FIRST_HASH
    for entry in _archived(project_id):
        if entry["number"] <= number:
            continue  # a file was written whose entries could not be removed, and were archived again later
        expected = chained_hash(last, entry)
        if entry["number"] != number + 1:
            return LedgerReport(number, 0, number, last, broken_number=number + 1)
        if entry["hash"] != expected:
            return LedgerReport(number, 0, number, last, number + 1, UUID(entry["id"]))
        number, last = number + 1, expected
        if number == until and last != until_hash:
            return LedgerReport(number, 0, number, last, number, UUID(entry["id"]))
    return LedgerReport(number, 0, number, last, broken_number=number + 1 if number < until else None)


def _archived(project_id: UUID) -> Iterator[dict[str, Any]]:
    for path in sorted(_folder(project_id).glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            yield from (msgspec.json.decode(line) for line in lines)


def _folder(project_id: UUID) -> Path:
    return settings.LEDGER_ARCHIVE / str(project_id)


FIELDS = (
    "number", "hash", "id", "created_at", "actor", "verb", "object_kind", "object_id", "end_user_id", "trace_id",
    "details", "project_id",
)  # fmt: skip


def export_ledger(*, project_id: UUID, entries: QuerySet[LedgerEntry]) -> Iterator[bytes]:
    """Yield one line per entry, oldest first; `entries` are those of the project, or some of them.

    Sealed entries carry their number and hash, so that the chain can be verified elsewhere.
    """
    with tenant_scope(project_id=project_id):
        record(project_id=project_id, verb="ledger_exported", object_kind="project", object_id=project_id)
    return _lines(project_id, entries.order_by("id").values(*FIELDS))


def _lines(project_id: UUID, rows: QuerySet[LedgerEntry, dict[str, object]]) -> Iterator[bytes]:
    following = rows
    while found := _read(project_id, following):
        for entry in found:
            yield msgspec.json.encode(entry) + b"\n"
        following = rows.filter(id__gt=found[-1]["id"])


def _read(project_id: UUID, rows: QuerySet[LedgerEntry, dict[str, object]]) -> list[dict[str, Any]]:
    """Read the next entries, in a scope of their own: the view has returned when they are sent."""
    with tenant_scope(project_id=project_id):
        return list(rows[:AT_ONCE])


log = structlog.get_logger(__name__)

REMOVED_AT_ONCE = 5_000  # entries per transaction


def remove_sealed(*, project_id: UUID, before: datetime) -> int:
    """Archive and remove sealed entries written before a time, oldest first; return how many.

    The database refuses it for entries that are younger than 30 days. What can't be archived is not removed; the next
    round of retention tries again.
    """
    removed = 0
    with system_scope(SystemWork.LEDGER):
        try:
            while some := _remove_some(project_id, before):
                removed += some
        except OSError as error:
            log.error("ledger not archived", project=str(project_id), error=str(error))
    return removed


def _remove_some(project_id: UUID, before: datetime) -> int:
    sealed = LedgerEntry.objects.filter(project_id=project_id, number__isnull=False).order_by("number")
    # Entries are numbered when they are sealed, so a young one may stand before an older one; it keeps what follows.
    past = list(takewhile(lambda entry: entry["created_at"] < before, sealed.values(*FIELDS)[:REMOVED_AT_ONCE]))
    if not past:
        return 0
    archive_entries(project_id=project_id, entries=past)
    number, digest = past[-1]["number"], past[-1]["hash"]
    with transaction.atomic():
        LedgerCheckpoint.objects.get_or_create(project_id=project_id, number=number, defaults={"hash": digest})
        deleted, _ = LedgerEntry.objects.filter(project_id=project_id, number__lte=number).delete()
    return deleted
