"""Remove the oldest entries of a ledger, and note where its chain begins from then on."""

from datetime import datetime
from uuid import UUID

from django.db import transaction

from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.tenants.system_scope import SystemWork, system_scope

AT_ONCE = 5_000  # entries per transaction


def remove_sealed(*, project_id: UUID, before: datetime) -> int:
    """Remove sealed entries written before a time, oldest first; return how many.

    The database refuses it for entries that are younger than 30 days.
    """
    removed = 0
    with system_scope(SystemWork.LEDGER):
        while some := _remove_some(project_id, before):
            removed += some
    return removed


def _remove_some(project_id: UUID, before: datetime) -> int:
    sealed = LedgerEntry.objects.filter(project_id=project_id, number__isnull=False).order_by("number")
    found = sealed.values_list("number", "hash", "created_at")[:AT_ONCE]
    past = [(number, digest) for number, digest, written in found if number is not None and written < before]
    if not past:
        return 0
    with transaction.atomic():
        number, digest = past[-1]
        LedgerCheckpoint.objects.get_or_create(project_id=project_id, number=number, defaults={"hash": digest})
        deleted, _ = LedgerEntry.objects.filter(project_id=project_id, number__lte=number).delete()
    return deleted
