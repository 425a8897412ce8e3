"""The lease of one process on an import, and its end: done, failed, or given back."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.common.errors import Refused
from apps.imports.enums import ImportState
from apps.imports.models import FileImport
from apps.outbox.leased import LostLease, leased_row
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)
LEASE_SECONDS = 60.0  # much longer than a chunk takes
MOST_ERROR = 2_000  # characters


@contextmanager
def leased(*, import_id: UUID, working: ImportState) -> Iterator[FileImport | None]:
    """Lease an import that waits to be checked or run, or whose process died; the block gets None for another one."""
    with system_scope(SystemWork.SCHEDULE):
        project_id = FileImport.objects.filter(id=import_id).values_list("project_id", flat=True).first()
    if project_id is None:
        yield None
        return
    states = (ImportState.WAITING, working) if working is ImportState.RUNNING else (working,)
    rows = FileImport.objects.due(*states).filter(id=import_id)
    with (
        tenant_scope(project_id=project_id),
        leased_row(rows, seconds=LEASE_SECONDS, fail=_fail, state=working, resume_at=None) as held,
    ):
        yield held


def _fail(held: FileImport, error: Exception) -> None:
    """End an import with the reason; it can be resumed, and a check begun again. Raises LostLease."""
    if not isinstance(error, Refused):
        log.exception("import failed", file_import=str(held.pk))
    # Only its kind, as its words may be those of the file.
    reason = str(error) if isinstance(error, Refused) else f"an unexpected error: {type(error).__name__}"
    counts = {} if held.state == ImportState.CHECKING else held.counts  # not of half a file
    now = timezone.now()
    release(held, state=ImportState.FAILED, error=reason[:MOST_ERROR], finished_at=now, counts=counts)


@contextmanager
def reporting(file_import: FileImport) -> Iterator[FileImport]:
    """Lock the row of an import while the block runs, in one transaction; then store its changes and renew the lease.

    Raises LostLease if the import was cancelled or another process works on it.
    """
    with transaction.atomic():
        held = FileImport.objects.select_for_update().filter(id=file_import.pk).first()
        if held is None or held.state != file_import.state or held.lease_token != file_import.lease_token:
            raise LostLease
        yield held
        if held.lease_token is not None:
            held.leased_until = Now() + timedelta(seconds=LEASE_SECONDS)
        held.save()


def release(file_import: FileImport, *, state: ImportState, **changes: Any) -> None:
    """Give an import back in another state. Raises LostLease."""
    with reporting(file_import) as held:
        for name, value in {"state": state, "leased_until": None, "lease_token": None, **changes}.items():
            setattr(held, name, value)
