"""Remove the oldest entries of a ledger once they are archived, and note where its chain begins from then on."""

from datetime import datetime
from itertools import takewhile
from uuid import UUID

import structlog
from django.db import transaction

from apps.actions.ledger.archive import archive_entries
from apps.actions.ledger.export import FIELDS
from apps.memories.models import LedgerCheckpoint, LedgerEntry
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)

AT_ONCE = 5_000  # entries per transaction


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
    past = list(takewhile(lambda entry: entry["created_at"] < before, sealed.values(*FIELDS)[:AT_ONCE]))
    if not past:
        return 0
    archive_entries(project_id=project_id, entries=past)
    number, digest = past[-1]["number"], past[-1]["hash"]
    with transaction.atomic():
        LedgerCheckpoint.objects.get_or_create(project_id=project_id, number=number, defaults={"hash": digest})
        deleted, _ = LedgerEntry.objects.filter(project_id=project_id, number__lte=number).delete()
    return deleted
