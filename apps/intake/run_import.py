"""Run an import: one chunk after the other, each in a transaction with its progress, at the pace that quotas allow."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from time import monotonic, sleep
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.actions.errors import ProjectArchived, Refused
from apps.actions.get_or_create import actor_of
from apps.actions.imports.checking import MOST_PROBLEMS, chunks_of, known_turns
from apps.actions.imports.lease import claim, fail, reason_of, release, reporting
from apps.actions.imports.services import delete_import_file, file_content, project_of_import
from apps.actions.imports.store_memories import store_memories
from apps.actions.ledger.actor import acting_as
from apps.actions.ledger.record import record
from apps.actions.transfers.load_project import ProjectLoader, check_empty
from apps.actions.transfers.row_blocks import row_blocks
from apps.imports.models import FileImport
from apps.imports.readers.chunks import ImportChunk
from apps.imports.readers.entries import ImportProblem
from apps.intake.accept import Submission, accept
from apps.intake.backpressure import QueueFull, check_room_for_import
from apps.intake.quotas import QuotaExceeded, check_quotas
from apps.outbox.leased import LostLease
from apps.outbox.outages import is_outage
from apps.pipeline.core.enums import ImportFormat, ImportState
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope

OnProgress = Callable[[int], None]
log = structlog.get_logger(__name__)

TURN = timedelta(minutes=10)  # after which an import is given back; it counts from the first new chunk
PAUSE_SECONDS = 5.0  # after which an import looks again whether the queue has room
METADATA = "import"  # the key of the metadata of a trace under which its import is named
_LOOKING = 1_000  # chunks that are skipped until it is looked whether the lease is still held


class _TurnOver(Exception):
    """The worker has worked for long enough."""


class ImportRun:
    """One turn of a worker at an import: what is done already is skipped, then chunk follows chunk until time is up."""

    def __init__(self, held: FileImport, *, most: timedelta, pauses: bool, on_progress: OnProgress) -> None:
        self.held = held
        self._most, self._pauses, self._on_progress = most, pauses, on_progress
        self._until = 0.0

    def is_done(self, number: int) -> bool:
        """Return True for a chunk that an earlier turn has imported. Raises LostLease."""
        if number > self.held.position:
            return False
        if number % _LOOKING == 0:
            with reporting(self.held):
                pass
        return True

    def begin(self) -> Iterator[float]:
        """Go on with the next chunk, when the queue has room; yield how many seconds to wait for it.

        Raises QueueFull, LostLease, ProjectArchived, and at the end of the turn.
        """
        self._until = self._until or monotonic() + self._most.total_seconds()
        if monotonic() > self._until:
            raise _TurnOver
        if Project.objects.filter(id=self.held.project_id, archived_at__isnull=False).exists():
            raise ProjectArchived
        while True:
            try:
                check_room_for_import(project_id=self.held.project_id)
            except QueueFull as full:
                if not self._pauses or monotonic() + PAUSE_SECONDS > self._until:
                    raise
                with reporting(self.held) as row:
                    row.wait_reason = str(full)
            else:
                return
            yield PAUSE_SECONDS

    def end(self, row: FileImport, number: int, added: Mapping[str, int]) -> None:
        """Note in the locked row that a chunk is imported."""
        row.done = dict(Counter(row.done) + Counter(added))
        row.position, row.wait_reason = number, ""
        self._on_progress(number)


def run_import(
    *, import_id: UUID, most: timedelta = TURN, pauses: bool = True, on_progress: OnProgress = lambda _: None
) -> None:
    """Import what is left, for up to `most`; a worker goes on with the rest later.

    Where the queue is half full the import pauses, or with `pauses` false is given back; where a quota is used up it
    is given back until there is room. `on_progress` gets the number of chunks that are done. Ignores an import that
    is over or that another process works on.
    """
    for seconds in running(import_id=import_id, most=most, pauses=pauses, on_progress=on_progress):
        if seconds:
            sleep(seconds)


def running(
    *, import_id: UUID, most: timedelta = TURN, pauses: bool = True, on_progress: OnProgress = lambda _: None
) -> Iterator[float]:
    """Do what `run_import` does, chunk by chunk: yield after each, in how many seconds to go on.

    Closed before the end, the import is given back.
    """
    project_id = project_of_import(import_id)
    if project_id is None:
        return
    with tenant_scope(project_id=project_id):
        held = claim(import_id=import_id, since=ImportState.WAITING, working=ImportState.RUNNING)
        if held is None:
            return
        with suppress(LostLease), acting_as(actor_of(held.api_key_id, held.person_id)), _ending(held):
            run = ImportRun(held, most=most, pauses=pauses, on_progress=on_progress)
            yield from (_load if held.format == ImportFormat.PROJECT else _import)(run)
            _finish(held)


@contextmanager
def _ending(held: FileImport) -> Iterator[None]:
    """Give the import back in the state that fits what the block raises. Raises LostLease."""
    try:
        yield
    except LostLease:
        raise
    except _TurnOver:
        release(held, state=ImportState.WAITING, wait_reason="")
    except GeneratorExit:
        release(held, state=ImportState.WAITING, resume_at=timezone.now())  # after others
        raise
    except (QueueFull, QuotaExceeded) as full:
        resume_at = timezone.now() + timedelta(seconds=full.retry_after)
        release(held, state=ImportState.WAITING, wait_reason=str(full), resume_at=resume_at)
    except Exception as error:  # whatever a file or a row makes it raise, the import has to end with a state
        if is_outage(error):
            raise  # when the lease has ended, a process goes on
        if not isinstance(error, Refused):
            log.exception("import failed", file_import=str(held.pk))
        fail(held, reason_of(error))


def _import(run: ImportRun) -> Iterator[float]:
    chunks = (each for each in chunks_of(run.held) if not isinstance(each, ImportProblem))  # the check has told them
    for number, chunk in enumerate(chunks, start=1):
        if run.is_done(number):
            yield 0.0
            continue
        yield from run.begin()
        with reporting(run.held) as row:
            added = _store_turns(run.held, chunk) if chunk.turns else _store_memories(run.held, chunk)
            run.end(row, number, added)
        yield 0.0


def _load(run: ImportRun) -> Iterator[float]:
    """Load an exported project; rows of the project come first, and again after a pause, since others refer to them."""
    held = run.held
    loader = ProjectLoader(project_id=held.project_id)
    if not held.position:
        check_empty(project_id=held.project_id)
    blocks = (each for each in row_blocks(file_content(held)) if not isinstance(each, ImportProblem))
    for number, block in enumerate(blocks, start=1):
        if run.is_done(number):
            loader.skip(block)
            yield 0.0
            continue
        yield from run.begin()
        with reporting(held) as row:
            check_quotas(project_id=held.project_id)
            loaded = loader.load(block)
            if isinstance(loaded, ImportProblem):
                row.problems = [*row.problems, {"at": loaded.at, "reason": loaded.reason}][:MOST_PROBLEMS]
                loaded = {"refused": 1}
            run.end(row, number, loaded)
        yield 0.0


def _store_turns(held: FileImport, chunk: ImportChunk) -> Mapping[str, int]:
    known = known_turns(project_id=held.project_id, chunk=chunk)
    new = tuple(each.turn for each in chunk.turns if each.turn.external_id not in known)
    if new:
        accept(
            submission=Submission(
                held.project_id,
                held.api_key_id,
                chunk.user_id,
                chunk.session_id,
                new,
                metadata={METADATA: held.shown_id},
                is_awaited=True,  # the further turns of the session are in the file
            )
        )
    return {"turns": len(new), "known": len(chunk.turns) - len(new), "requests": int(bool(new))}


def _store_memories(held: FileImport, chunk: ImportChunk) -> Mapping[str, int]:
    check_quotas(project_id=held.project_id)
    return store_memories(file_import=held, chunk=chunk)


def _finish(held: FileImport) -> None:
    """End the import, and delete its file: everything in it is stored or told."""
    with transaction.atomic():
        release(held, state=ImportState.DONE, finished_at=timezone.now(), wait_reason="")
        done = FileImport.objects.get(id=held.pk).done
        record(
            project_id=held.project_id,
            verb="import_finished",
            object_kind="import",
            object_id=held.pk,
            details=dict(done),
        )
        delete_import_file(project_id=held.project_id, import_id=held.pk)
