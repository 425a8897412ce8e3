"""The right of one process to work on an import: taken, renewed with each report, and lost to whoever takes it next."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from apps.actions.errors import Refused
from apps.imports.models import FileImport
from apps.pipeline.core.enums import ImportState
from apps.pipeline.core.identifiers import new_id

LEASE = timedelta(minutes=2)  # much longer than a chunk takes
MOST_ERROR = 2_000  # characters


class LeaseLost(Exception):
    """The import was cancelled, or another process works on it."""


def claim(*, import_id: UUID, since: ImportState, working: ImportState) -> FileImport | None:
    """Take an import that waits in state `since`, or whose worker died; None if somebody works on it or it is over."""
    now = timezone.now()
    free = Q(state=since, leased_until__isnull=True) | Q(state__in=(since, working), leased_until__lt=now)
    due = Q(resume_at__isnull=True) | Q(resume_at__lte=now)
    token = new_id()
    changes = {"state": working, "leased_until": now + LEASE, "lease_token": token, "resume_at": None}
    taken = FileImport.objects.filter(free, due, id=import_id).update(**changes)
    return FileImport.objects.filter(id=import_id, lease_token=token).first() if taken else None


@contextmanager
def reporting(file_import: FileImport) -> Iterator[FileImport]:
    """Lock the row of an import while the block runs, in one transaction; then store what the block changed.

    Raises LeaseLost if this process has lost the import.
    """
    with transaction.atomic():
        held = FileImport.objects.select_for_update().filter(id=file_import.pk).first()
        if held is None or held.state != file_import.state or held.lease_token != file_import.lease_token:
            raise LeaseLost
        held.leased_until = timezone.now() + LEASE
        yield held
        held.save()


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
