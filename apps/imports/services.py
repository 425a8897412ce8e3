"""Request, upload, check, start, cancel and forget imports, and lease them to one worker."""

from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Case, F, Q, QuerySet, Value, When
from django.utils import timezone

from apps.common.errors import Conflict, Refused, Unfit
from apps.common.rows import get_or_refuse
from apps.imports.enums import UNDER_WAY, ImportState
from apps.imports.models import FileImport, ImportFile
from apps.memories.ledger.record import record
from apps.outbox.enqueue import wake_workers
from apps.outbox.leased import leased_row, release_row, reported_row
from apps.tenants.models import Project
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import IdempotentRequest

MOST_FILES = 20  # of a project that are stored at the same time
MEGABYTE = 1024 * 1024


@transaction.atomic
def request_import(*, request: FileImport) -> FileImport:
    """Store a new import without its file. Raises Conflict if the project has MOST_FILES files already."""
    project_id = request.project_id
    Project.objects.select_for_update(no_key=True).get(pk=project_id)  # for the count
    if FileImport.objects.filter(project_id=project_id, has_file=True).count() >= MOST_FILES:
        raise Conflict(f"{MOST_FILES} files are stored already: finish or delete one of their imports")
    request.save(force_insert=True)
    record("import_requested", "import", request.id, project_id=project_id)
    return request


@transaction.atomic
def store_file(*, project_id: UUID, import_id: UUID, content: bytes) -> FileImport:
    """Store the file of an import, and leave its check to a worker; sent again, it replaces one that was not checked.

    Raises NotFound, Conflict if the file was checked, is being checked or was deleted, Unfit for an empty or too large
    one.
    """
    if not content:
        raise Unfit("must not be empty")
    if len(content) > settings.IMPORT_MAX_MB * MEGABYTE:
        raise Unfit(f"the file exceeds {settings.IMPORT_MAX_MB:,} MB")
    held = _with_file(project_id, import_id)
    if held.state not in (ImportState.UPLOADING, ImportState.CANCELLED, ImportState.FAILED) or held.counts:
        raise Conflict(f"the import is {held.state}, and its file was sent")
    ImportFile.objects.update_or_create(file_import=held, defaults={"content": content, "project_id": project_id})
    _move(held, ImportState.CHECKING, size=len(content), problems=[])
    transaction.on_commit(wake_workers)
    return held


@transaction.atomic
def upload_import(*, request: FileImport, content: bytes) -> FileImport:
    """Create an import with its file, which is checked next. Raises Conflict, Unfit."""
    made = request_import(request=request)
    return store_file(project_id=request.project_id, import_id=made.pk, content=content)


def file_content(file_import: FileImport) -> bytes:
    """Return the stored file."""
    return bytes(ImportFile.objects.values_list("content", flat=True).get(file_import=file_import))


def _locked(project_id: UUID, import_id: UUID) -> FileImport:
    """Return an import, locked until the transaction ends. Raises NotFound."""
    return get_or_refuse(FileImport.objects.select_for_update().filter(project_id=project_id, id=import_id), "import")


def _with_file(project_id: UUID, import_id: UUID) -> FileImport:
    held = _locked(project_id, import_id)
    if not held.has_file:
        raise Conflict("its file was deleted: request another import")
    return held


def _move(held: FileImport, state: ImportState, **changes: Any) -> None:
    """Bring a locked import into another state, and end the lease of a process that works on it."""
    ended = dict.fromkeys(("finished_at", "resume_at", "leased_until", "lease_token"))
    for name, value in {"state": state, "error": "", "wait_reason": "", **ended, **changes}.items():
        setattr(held, name, value)
    held.save()


@transaction.atomic
def start_import(
    *, project_id: UUID, import_id: UUID, api_key_id: UUID | None = None, person_id: int | None = None
) -> FileImport:
    """Leave the import to a worker, in the name of whoever starts it; what is imported already stays.

    Raises NotFound, Conflict unless it was checked, waits for nobody and has its file.
    """
    held = _with_file(project_id, import_id)
    if not held.counts:
        raise Conflict("the import was not checked")
    if held.state not in (ImportState.CHECKED, ImportState.CANCELLED, ImportState.FAILED):
        raise Conflict(f"the import is {held.state}")
    started_at = held.started_at or timezone.now()
    _move(held, ImportState.WAITING, started_at=started_at, api_key_id=api_key_id, person_id=person_id)
    details = {"format": held.format, "chunks_done": held.position}
    record("import_started", "import", held.pk, project_id=project_id, details=details)
    transaction.on_commit(wake_workers)
    return held


@transaction.atomic
def cancel_import(*, project_id: UUID, import_id: UUID) -> FileImport:
    """Cancel an import that is not over; one that runs stops after the chunk at hand. Raises NotFound, Conflict."""
    held = _locked(project_id, import_id)
    if held.state in (ImportState.DONE, ImportState.FAILED):
        raise Conflict(f"the import is {held.state}")
    if held.state != ImportState.CANCELLED:
        counts = {} if held.state == ImportState.CHECKING else held.counts  # not of half a file
        _move(held, ImportState.CANCELLED, counts=counts, finished_at=timezone.now())
        record("import_cancelled", "import", import_id, project_id=project_id)
    return held


OLD = "nobody has finished it, and its file was deleted"


@transaction.atomic
def delete_import_file(*, project_id: UUID, import_id: UUID) -> FileImport:
    """Delete the file of an import that is not under way; its report stays. Raises NotFound, Conflict."""
    found = _locked(project_id, import_id)
    if not found.is_over:
        raise Conflict(f"the import is {found.state}: cancel it first")
    if forget_files(FileImport.objects.filter(id=import_id, has_file=True), error=""):
        record("import_file_deleted", "import", import_id, project_id=project_id)
    found.refresh_from_db()
    return found


def forget_old_files() -> int:
    """Delete the files of imports that nobody has finished for IMPORT_KEPT_DAYS; return how many."""
    before = timezone.now() - timedelta(days=settings.IMPORT_KEPT_DAYS)
    with system_scope(SystemWork.SCHEDULE):
        last = Q(finished_at__lt=before) | Q(finished_at__isnull=True, created_at__lt=before)
        under_way = (ImportState.WAITING, ImportState.RUNNING)
        return forget_files(FileImport.objects.filter(last, has_file=True).exclude(state__in=under_way), error=OLD)


@transaction.atomic
def forget_files(imports: QuerySet[FileImport], *, error: str) -> int:
    """Delete the files of some imports; those that are not done are cancelled, with the reason."""
    cancelled = {"state": ImportState.CANCELLED, "error": error, "finished_at": timezone.now()}
    # The rows are locked first, as when a file is stored: none is stored after this.
    ids = list(imports.select_for_update().order_by("id").values_list("id", flat=True))
    rows = FileImport.objects.filter(id__in=ids)
    rows.exclude(state=ImportState.DONE).update(**cancelled, leased_until=None, lease_token=None, resume_at=None)
    forgotten = rows.update(has_file=False, users=[])
    ImportFile.objects.filter(file_import__in=ids).delete()
    return forgotten


ERASED = "an end user of it was erased, and its file with them"
FILE_NAME = "file"  # in place of one that names an erased user
LEAST_CHARACTERS = 3  # of a name that is looked for in texts: a shorter one is found in words that mean others


def lock_imports(*, project_id: UUID) -> None:
    """Lock the imports of a project until the transaction ends; to be called before an end user is locked."""
    list(FileImport.objects.select_for_update().filter(project_id=project_id).order_by("id").values_list("id"))


def forget_user(*, project_id: UUID, end_user_id: UUID, user_id: str) -> int:
    """Delete the files that hold an end user, or may hold them, and forget their names; return how many files.

    Must be called after `lock_imports`, in its transaction.
    """
    mine = FileImport.objects.filter(project_id=project_id)
    unread = Q(state__in=(ImportState.UPLOADING, ImportState.CHECKING)) | Q(counts={})
    forgotten = forget_files(mine.filter(unread | Q(users__contains=[end_user_id]), has_file=True), error=ERASED)
    for row in mine.defer("users", "counts"):
        names = {user_id} | {name for name, owner in row.users_by_name.items() if owner == user_id}
        row.user_id = "" if row.user_id == user_id else row.user_id
        row.users_by_name = {name: owner for name, owner in row.users_by_name.items() if not {name, owner} & names}
        row.file_name = FILE_NAME if _is_named(row.file_name, names) else row.file_name
        # A place may be named by what a file calls it; reasons and errors quote nothing.
        row.problems = [each for each in row.problems if not _is_named(each["at"], names)]
        row.save(update_fields=["user_id", "users_by_name", "file_name", "problems"])
    if len(user_id) >= LEAST_CHARACTERS:
        answers = IdempotentRequest.objects.filter(project_id=project_id, end_user_id__isnull=True)
        answers.filter(answer__file_name__icontains=user_id).delete()
    return forgotten


def _is_named(text: str, names: set[str]) -> bool:
    """Return True if a text holds one of the names."""
    return any(len(name) >= LEAST_CHARACTERS and name.casefold() in text.casefold() for name in names)


def due_imports() -> list[FileImport]:
    """Return the imports of all projects that are due and not leased, those that waited longest first."""
    with system_scope(SystemWork.SCHEDULE):
        free = FileImport.objects.due(*UNDER_WAY).free().only("id", "project_id")
        return list(free.order_by(F("resume_at").asc(nulls_first=True), "created_at", "id"))


log = structlog.get_logger(__name__)
LEASE_SECONDS = 60.0  # much longer than a chunk takes
MOST_ERROR = 2_000  # characters


def leased(*, import_id: UUID) -> AbstractContextManager[FileImport | None]:
    """Lease an import that waits to be checked or run, or whose process died; the block gets None for another one."""
    rows = FileImport.objects.due(*UNDER_WAY).filter(id=import_id)
    state = Case(When(state=ImportState.WAITING, then=Value(ImportState.RUNNING.value)), default=F("state"))
    return leased_row(rows, seconds=LEASE_SECONDS, fail=_fail, state=state, resume_at=None)


def _fail(held: FileImport, error: Exception) -> None:
    """End an import with the reason; it can be resumed, and a check begun again. Raises LostLease."""
    if isinstance(error, Refused):
        reason = str(error)
    else:
        log.exception("import failed", file_import=str(held.pk))
        reason = f"an unexpected error: {type(error).__name__}"  # its words may be those of the file
    counts = {} if held.state == ImportState.CHECKING else held.counts  # not of half a file
    ended = {"error": reason[:MOST_ERROR], "finished_at": timezone.now()}
    release_row(held, state=ImportState.FAILED, counts=counts, **ended)


def reporting(file_import: FileImport) -> AbstractContextManager[FileImport]:
    """Lock the row of an import while the block runs; then store its changes and renew the lease. Raises LostLease."""
    return reported_row(file_import, seconds=LEASE_SECONDS)
