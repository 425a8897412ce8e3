"""Seal, verify, archive and export the ledger."""

import gzip
import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import takewhile
from time import monotonic
from typing import Any, cast
from uuid import UUID

import msgspec
import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import BooleanField, Func, QuerySet, Value

from apps.memories.ledger.record import record
from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.tenants.scope import tenant_scope
from apps.tenants.streamed_rows import streamed_rows
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)

AN_HOUR = timedelta(hours=1)
AT_ONCE = 1_000  # entries per transaction
REMOVED_AT_ONCE = 5_000
BEGINNING = 0, "0" * 64  # number and hash before the first entry of a project
_LOCK = 7_204_412  # key of the advisory lock that lets one process seal at a time
_HASHED = (
    "id", "created_at", "actor", "verb", "object_kind", "object_id", "end_user_id", "trace_id", "details", "project_id",
)  # fmt: skip
FIELDS = ("number", "hash", *_HASHED)  # of an exported entry, in this order


def seal_ledger(*, most: timedelta = AN_HOUR) -> int:
    """Seal the entries that are committed; return how many these were. Time that is up leaves the rest unsealed."""
    until, sealed = monotonic() + most.total_seconds(), 0
    projects = LedgerEntry.objects.filter(number__isnull=True).order_by().values_list("project_id", flat=True)
    is_alone = Func(Value(_LOCK), function="pg_try_advisory_xact_lock", output_field=BooleanField())
    with system_scope(SystemWork.LEDGER):
        for project_id in list(projects.distinct()):
            entries = LedgerEntry.objects.filter(project_id=project_id).order_by("id")
            unsealed = entries.filter(number__isnull=True)
            latest = entries.filter(number__isnull=False).order_by("-number").values_list("number", "hash")
            while monotonic() < until:
                with transaction.atomic():
                    if not unsealed.values_list(is_alone, flat=True).first():
                        break  # none is left, or another process is sealing
                    number, last = cast("tuple[int, str] | None", latest.first()) or _beginning(project_id)
                    made: list[LedgerEntry] = []
                    for place, entry in enumerate(unsealed.values(*_HASHED)[:AT_ONCE], start=number + 1):
                        last = _chained_hash(last, entry)
                        made.append(LedgerEntry(id=entry["id"], number=place, hash=last))
                    unsealed.bulk_update(made, ["number", "hash"])
                sealed += len(made)
    return sealed


def _beginning(project_id: UUID) -> tuple[int, str]:
    """Return number and hash before the oldest entry that the retention period has left."""
    checkpoints = LedgerCheckpoint.objects.filter(project_id=project_id).order_by("-number")
    return checkpoints.values_list("number", "hash").first() or BEGINNING


def _chained_hash(previous: str, entry: dict[str, Any]) -> str:
    """Hash the previous hash and the canonical JSON of an entry (SHA-256, hexadecimal)."""
    canonical = msgspec.json.encode({name: entry[name] for name in _HASHED}, order="sorted")
    return hashlib.sha256(previous.encode() + canonical).hexdigest()


@dataclass(frozen=True, slots=True)
class LedgerReport:
    """The verified entries of a project, and the first one that does not fit, if there is any.

    `head_number` and `head_hash` belong to the last entry that fits: who has noted an earlier head elsewhere sees
    whether the end of the chain was cut off.
    """

    entries: int
    head_number: int
    head_hash: str
    broken_number: int | None = None
    broken_entry: UUID | None = None  # None if the entry with this number is missing
    unsealed: int = 0

    @property
    def is_intact(self) -> bool:
        """Return True if every sealed entry fits."""
        return self.broken_number is None


def verify_ledger(*, project_id: UUID) -> LedgerReport:
    """Compute the chain of a project again and compare it; entries that are not sealed yet are only counted."""
    with tenant_scope(project_id=project_id):
        entries = LedgerEntry.objects.filter(project_id=project_id)
        unsealed, start = entries.filter(number__isnull=True).count(), _beginning(project_id)
        sealed = entries.filter(number__gt=start[0]).order_by("number").values(*FIELDS).iterator(chunk_size=AT_ONCE)
        return replace(_verified(sealed, start=start, until=start), unsealed=unsealed)


def verify_archive(*, project_id: UUID) -> LedgerReport:
    """Compute the chain of the archived entries again, up to where that of the database begins.

    Raises OSError and msgspec.DecodeError for a file that can't be read.
    """
    with tenant_scope(project_id=project_id):
        until = _beginning(project_id)
    return _verified(_archived(project_id), start=BEGINNING, until=until)


def _verified(entries: Iterable[dict[str, Any]], *, start: tuple[int, str], until: tuple[int, str]) -> LedgerReport:
    """Compute the chain of entries from `start` on, which must come to the number and the hash of `until`."""
    number, last = start
    for entry in entries:
        if entry["number"] <= number:
            continue  # a file was written whose entries could not be removed, and were archived again later
        expected = _chained_hash(last, entry)
        if entry["number"] != number + 1:
            return LedgerReport(number - start[0], number, last, broken_number=number + 1)
        if entry["hash"] != expected:
            return LedgerReport(number - start[0], number, last, number + 1, UUID(str(entry["id"])))
        number, last = number + 1, expected
        if number == until[0] and last != until[1]:
            return LedgerReport(number - start[0], number, last, number, UUID(str(entry["id"])))
    return LedgerReport(number - start[0], number, last, broken_number=number + 1 if number < until[0] else None)


def _archived(project_id: UUID) -> Iterator[dict[str, Any]]:
    if settings.LEDGER_ARCHIVE is None:
        return
    for path in sorted((settings.LEDGER_ARCHIVE / str(project_id)).glob("*.jsonl.gz")):
        with gzip.open(path) as lines:
            yield from (msgspec.json.decode(line) for line in lines)


def export_ledger(*, project_id: UUID, entries: QuerySet[LedgerEntry]) -> Iterator[bytes]:
    """Yield one line per entry, oldest first; `entries` are those of the project, or some of them.

    Sealed entries carry their number and hash, so that the chain can be verified elsewhere.
    """
    with tenant_scope(project_id=project_id):
        record("ledger_exported", "project", project_id, project_id=project_id)
    rows = streamed_rows(entries.order_by("id"), project_id=project_id)
    return (msgspec.json.encode({name: getattr(row, name) for name in FIELDS}) + b"\n" for row in rows)


def remove_sealed(*, project_id: UUID, before: datetime) -> int:
    """Archive and remove sealed entries written before a time, oldest first; return how many.

    The database refuses it for entries that are younger than 30 days. What can't be archived is not removed; the next
    round of retention tries again. Without LEDGER_ARCHIVE all entries stay.
    """
    removed = 0
    if settings.LEDGER_ARCHIVE is None:
        return removed
    folder = settings.LEDGER_ARCHIVE / str(project_id)
    sealed = LedgerEntry.objects.filter(project_id=project_id, number__isnull=False).order_by("number")
    with system_scope(SystemWork.LEDGER):
        # Entries are numbered when they are sealed, so a young one may stand before an older one; it keeps what
        # follows.
        while past := list(
            takewhile(lambda entry: entry["created_at"] < before, sealed.values(*FIELDS)[:REMOVED_AT_ONCE])
        ):
            path = folder / f"{past[0]['number']:012}-{past[-1]['number']:012}.jsonl.gz"
            part = path.with_name(f"{path.name}.{os.getpid()}.part")  # so that the file is complete or absent
            try:
                folder.mkdir(parents=True, exist_ok=True)
                with part.open("wb") as made:
                    made.write(gzip.compress(b"".join(msgspec.json.encode(entry) + b"\n" for entry in past)))
                    made.flush()
                    os.fsync(made.fileno())
                part.replace(path)
            except OSError as error:
                log.error("ledger not archived", project=str(project_id), error=str(error))
                break
            number, digest = past[-1]["number"], past[-1]["hash"]
            with transaction.atomic():
                LedgerCheckpoint.objects.get_or_create(project_id=project_id, number=number, defaults={"hash": digest})
                removed += sealed.filter(number__lte=number).delete()[0]
    return removed
