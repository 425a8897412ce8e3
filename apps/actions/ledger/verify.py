"""Verify the hash chain of a project's ledger."""

from dataclasses import dataclass
from uuid import UUID

from apps.actions.ledger.seal import beginning, chained_hash
from apps.memories.models import LedgerEntry
from apps.tenants.scope import tenant_scope

_FIELDS = (
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
    for entry in rows.filter(number__gt=first).order_by("number").values(*_FIELDS).iterator(chunk_size=1_000):
        expected = chained_hash(last, entry)
        if entry["number"] != number + 1:
            return LedgerReport(number - first, unsealed, number, last, broken_number=number + 1)
        if entry["hash"] != expected:
            return LedgerReport(number - first, unsealed, number, last, number + 1, entry["id"])
        number, last = entry["number"], expected
    return LedgerReport(number - first, unsealed, number, last)
