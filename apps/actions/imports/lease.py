"""The right of one process to work on an import: taken, renewed by a thread, and lost to whoever takes it next."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error, connection, transaction
from django.db.models import Q
from django.utils import timezone

from apps.actions.errors import Refused
from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState
from apps.pipeline.core.identifiers import new_id
from apps.tenants.scope import tenant_scope

log = structlog.get_logger(__name__)

MOST_ERROR = 2_000  # characters


class LeaseLost(Exception):
    """The import was cancelled, or another process works on it."""


def claim(*, import_id: UUID, since: ImportState, working: ImportState) -> FileImport | None:
    """Take an import that waits in state `since`, or whose worker died; None if somebody works on it or it is over.

    Whoever locks its row works on it, even if the lease has ended in the meantime.
    """
    now = timezone.now()
    free = Q(state=since, leased_until__isnull=True) | Q(state__in=(since, working), leased_until__lt=now)
    due = Q(resume_at__isnull=True) | Q(resume_at__lte=now)
    token = new_id()
    changes = {"state": working, "leased_until": _until(), "lease_token": token, "resume_at": None}
    with transaction.atomic():
        rows = FileImport.objects.filter(free, due, id=import_id)
        if rows.select_for_update(skip_locked=True).first() is None:
            return None
        rows.update(**changes)
    return FileImport.objects.filter(id=import_id, lease_token=token).first()


@contextmanager
def reporting(file_import: FileImport) -> Iterator[FileImport]:
    """Lock the row of an import while the block runs, in one transaction; then store what the block changed.

    Raises LeaseLost if this process has lost the import.
    """
    with transaction.atomic():
        held = FileImport.objects.select_for_update().filter(id=file_import.pk).first()
        if held is None or held.state != file_import.state or held.lease_token != file_import.lease_token:
            raise LeaseLost
        yield held
        if held.lease_token is not None:
            held.leased_until = _until()
        held.save()


@contextmanager
def renewing(file_import: FileImport) -> Iterator[None]:
    """Renew the lease in a thread while the block runs, every HEARTBEAT_SECONDS, however long a step of it takes."""
    ended = threading.Event()
    thread = threading.Thread(target=_renew_until, args=(file_import, ended), name="import-lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def renew(file_import: FileImport) -> None:
    """Renew the lease, if this process still has it.

    A row that is locked is left out: nobody takes it, and the report that locks it renews the lease.
    """
    with tenant_scope(project_id=file_import.project_id), transaction.atomic():
        rows = FileImport.objects.filter(id=file_import.pk, lease_token=file_import.lease_token)
        if rows.select_for_update(skip_locked=True).first() is not None:
            rows.update(leased_until=_until())


def _renew_until(file_import: FileImport, ended: threading.Event) -> None:
    while not ended.wait(settings.HEARTBEAT_SECONDS):
        try:
            renew(file_import)
        except Error as error:
            log.warning("lease of an import not renewed", file_import=str(file_import.pk), error=str(error))
        finally:
            connection.close()


def _until() -> datetime:
    return timezone.now() + timedelta(seconds=settings.WORK_LEASE_SECONDS)


def release(file_import: FileImport, *, state: ImportState, **changes: Any) -> None:
    """Give an import back in another state. Raises LeaseLost."""
    with reporting(file_import) as held:
        for name, value in {"state": state, "leased_until": None, "lease_token": None, **changes}.items():
            setattr(held, name, value)


def reason_of(error: Exception) -> str:
    """Return why an import failed; of what is no refusal only its kind, as its words may be those of the file."""
    return str(error) if isinstance(error, Refused) else f"an unexpected error: {type(error).__name__}"


def fail(file_import: FileImport, error: str) -> None:
    """End an import with the reason; it can be resumed, and a check begun again. Raises LeaseLost."""
    changes: dict[str, Any] = {"error": error[:MOST_ERROR], "finished_at": timezone.now()}
    if file_import.state == ImportState.CHECKING:
        changes["counts"] = {}  # of half a file
    release(file_import, state=ImportState.FAILED, **changes)
