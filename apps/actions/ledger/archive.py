"""Archive entries of the ledger in files before the retention period removes them from the database.

A file holds the lines that an export has, compressed: numbers and hashes included, so the chain can be verified.
Entries hold identifiers and keyed hashes, no content, so the erasure of an end user leaves them.
"""

import gzip
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from django.conf import settings

from apps.actions.ledger.seal import FIRST_HASH, beginning, chained_hash
from apps.actions.ledger.verify import LedgerReport
from apps.tenants.scope import tenant_scope


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
