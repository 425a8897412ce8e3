"""The lease of one process on an import, and its end: done, failed, or given back."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.actions.errors import Refused
from apps.imports.enums import ImportState
from apps.imports.models import FileImport
from apps.outbox.leased import LostLease
from apps.outbox.outages import is_outage
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)
LEASE_SECONDS = 60.0  # much longer than a chunk takes
MOST_ERROR = 2_000  # characters


@contextmanager
def leased(*, import_id: UUID, working: ImportState) -> Iterator[FileImport | None]:
    """Lease an import for the block, which releases it; the block gets None if it is over or held by another process.

    What the block raises ends the import with the reason; a lost lease ends the block.
    """
    with system_scope(SystemWork.SCHEDULE):
        project_id = FileImport.objects.filter(id=import_id).values_list("project_id", flat=True).first()
    if project_id is None:
        yield None
        return
    with tenant_scope(project_id=project_id), suppress(LostLease):
        held = claim(import_id=import_id, working=working)
        try:
            yield held
        except LostLease:
            raise
        except Exception as error:  # whatever a file or a row makes it raise, the import has to end with a state
            if held is None or is_outage(error):
                raise  # when the lease has ended, a process goes on
            if not isinstance(error, Refused):
                log.exception("import failed", file_import=str(import_id))
            # Only its kind, as its words may be those of the file.
            fail(held, str(error) if isinstance(error, Refused) else f"an unexpected error: {type(error).__name__}")


def claim(*, import_id: UUID, working: ImportState) -> FileImport | None:
    """Lease an import that waits to be checked or run, or whose process died; return None if it is held or over."""
    states = (ImportState.WAITING, working) if working is ImportState.RUNNING else (working,)
    rows = FileImport.objects.due(*states).filter(id=import_id)
    token, _ = rows.lease(seconds=LEASE_SECONDS, state=working, resume_at=None)
    return FileImport.objects.filter(id=import_id, lease_token=token).first()


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


def fail(file_import: FileImport, error: str) -> None:
    """End an import with the reason; it can be resumed, and a check begun again. Raises LostLease."""
    changes: dict[str, Any] = {"error": error[:MOST_ERROR], "finished_at": timezone.now()}
    if file_import.state == ImportState.CHECKING:
        changes["counts"] = {}  # of half a file
    release(file_import, state=ImportState.FAILED, **changes)
