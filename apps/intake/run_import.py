"""Run an import: one chunk after the other, each in a transaction with its progress, at the pace that quotas allow."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from uuid import UUID

import structlog
from django.utils import timezone

from apps.actions.errors import ProjectArchived, Refused
from apps.actions.get_or_create import actor_of
from apps.actions.imports.check_import import MOST_PROBLEMS
from apps.actions.imports.delete_file import delete_import_file
from apps.actions.imports.find_project import project_of_import
from apps.actions.imports.known_entries import known_turns
from apps.actions.imports.lease import LeaseLost, claim, fail, release, reporting
from apps.actions.imports.read_file import chunks_of
from apps.actions.imports.start_import import queue_import
from apps.actions.imports.store_memories import store_memories
from apps.actions.imports.stored_file import open_file
from apps.actions.ledger.actor import acting_as
from apps.actions.ledger.record import record
from apps.actions.transfers.load_project import ProjectLoader, check_empty
from apps.actions.transfers.row_blocks import row_blocks
from apps.imports.models import FileImport
from apps.intake.accept import Submission, accept
from apps.intake.backpressure import QueueFull, check_room_for_import
from apps.intake.quotas import QuotaExceeded, check_quotas
from apps.outbox.outages import is_outage
from apps.pipeline.core.enums import ImportFormat, ImportState
from apps.pipeline.importing.chunks import ImportChunk
from apps.pipeline.importing.entries import ImportProblem
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope

log = structlog.get_logger(__name__)

TURN = timedelta(seconds=50)  # after which a worker gives others their turn
METADATA = "import"  # the key of the metadata of a trace under which its import is named


class _TurnOver(Exception):
    """The worker has worked for long enough."""


def run_import(*, import_id: UUID, most: timedelta = TURN) -> None:
    """Import what is left, for up to `most`; a worker goes on with the rest later.

    Where the queue is half full or a quota is used up, the import waits until there is room. Ignores an import that
    is over or that another process works on.
    """
    project_id = project_of_import(import_id)
    if project_id is None:
        return
    with tenant_scope(project_id=project_id):
        held = claim(import_id=import_id, since=ImportState.WAITING, working=ImportState.RUNNING)
        if held is None:
            return
        with acting_as(actor_of(held.api_key_id, held.person_id)), _ending(held):
            if Project.objects.filter(id=project_id, archived_at__isnull=False).exists():
                raise ProjectArchived
            run = _load if held.format == ImportFormat.PROJECT else _import
            run(held, until=monotonic() + most.total_seconds())
            _finish(held)


@contextmanager
def _ending(held: FileImport) -> Iterator[None]:
    """Give the import back in the state that fits what the block raises."""
    try:
        yield
    except LeaseLost:
        return
    except _TurnOver:
        release(held, state=ImportState.WAITING, wait_reason="")
        queue_import(held.pk)
    except (QueueFull, QuotaExceeded) as full:
        resume_at = timezone.now() + timedelta(seconds=full.retry_after)
        release(held, state=ImportState.WAITING, wait_reason=str(full), resume_at=resume_at)
    except Exception as error:  # whatever a file or a row makes it raise, the import has to end with a state
        if is_outage(error):
            raise  # when the lease has ended, continue_imports goes on
        is_refused = isinstance(error, Refused)
        if not is_refused:
            log.exception("import failed", file_import=str(held.pk))
        fail(held, str(error) if is_refused else f"{type(error).__name__}: {error}")


def _import(held: FileImport, *, until: float) -> None:
    number = 0
    for chunk in chunks_of(held):
        if isinstance(chunk, ImportProblem):
            continue  # the check has told it
        number += 1
        if number <= held.position:
            continue
        if monotonic() > until:
            raise _TurnOver
        check_room_for_import(project_id=held.project_id)
        with reporting(held) as row:
            added = _store_turns(held, chunk) if chunk.turns else _store_memories(held, chunk)
            row.done = dict(Counter(row.done) + Counter(added))
            row.position, row.wait_reason = number, ""


def _load(held: FileImport, *, until: float) -> None:
    """Load an exported project; rows of the project come first, and again after a pause, since others refer to them."""
    loader, number = ProjectLoader(project_id=held.project_id), 0
    if not held.position:
        check_empty(project_id=held.project_id)
    for block in row_blocks(open_file(held)):
        if isinstance(block, ImportProblem):
            continue
        number += 1
        if number <= held.position:
            loader.skip(block)
            continue
        if monotonic() > until:
            raise _TurnOver
        with reporting(held) as row:
            loaded = loader.load(block)
            if isinstance(loaded, ImportProblem):
                row.problems = [*row.problems, {"at": loaded.at, "reason": loaded.reason}][-MOST_PROBLEMS:]
                loaded = {"refused": 1}
            row.done = dict(Counter(row.done) + Counter(loaded))
            row.position, row.wait_reason = number, ""


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
            )
        )
    return {"turns": len(new), "known": len(chunk.turns) - len(new), "requests": int(bool(new))}


def _store_memories(held: FileImport, chunk: ImportChunk) -> Mapping[str, int]:
    check_quotas(project_id=held.project_id)
    return store_memories(file_import=held, chunk=chunk)


def _finish(held: FileImport) -> None:
    """End the import, and delete its file: everything in it is stored or told."""
    release(held, state=ImportState.DONE, finished_at=timezone.now(), wait_reason="")
    held.refresh_from_db()
    record(
        project_id=held.project_id,
        verb="import_finished",
        object_kind="import",
        object_id=held.pk,
        details=dict(held.done),
    )
    delete_import_file(project_id=held.project_id, import_id=held.pk)
