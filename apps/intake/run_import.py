"""Run an import: one chunk after the other, each in a transaction with its progress, at the pace that quotas allow."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.common.errors import ProjectArchived
from apps.imports.checking import chunks_of, known_in
from apps.imports.enums import ImportState
from apps.imports.models import FileImport
from apps.imports.readers.entries import ImportProblem
from apps.imports.readers.files import ImportChunk
from apps.imports.readers.memories import EXTRACTOR, with_origin
from apps.imports.services import delete_import_file, leased, release, reporting
from apps.intake.accept import Submission, accept
from apps.intake.quotas import QueueFull, QuotaExceeded, check_quotas, check_room_for_import
from apps.memories.ledger.actor import acting_as
from apps.memories.ledger.record import record
from apps.memories.services.store import StoreRequest, store_batch
from apps.tenants.models import Project
from apps.traces.get_or_create import actor_of

RENEW_EVERY = 1_000  # chunks that were imported earlier: only this renews the lease while they are read
METADATA = "import"  # the key of the metadata of a trace under which its import is named


def run_import(
    *,
    import_id: UUID,
    chunks: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Import what is left, or up to so many chunks; workers go on with the rest later.

    It is given back where a stop is wanted, and where the queue is half full or a quota used up until there is room.
    `on_progress` gets the number of chunks that are done. Ignores an import that is over or that another process works
    on.
    """
    with leased(import_id=import_id, working=ImportState.RUNNING) as held:
        if held is None:
            return
        with acting_as(actor_of(held.api_key_id, held.person_id)):
            is_done, reason, seconds = False, "", 0.0  # until others had their turn
            try:
                is_done = _run(held, chunks, stop, on_progress)
            except (QueueFull, QuotaExceeded) as full:
                reason, seconds = str(full), full.retry_after
            if not is_done:
                resume_at = timezone.now() + timedelta(seconds=seconds)
                release(held, state=ImportState.WAITING, wait_reason=reason, resume_at=resume_at)
                return
            with transaction.atomic():
                release(held, state=ImportState.DONE, finished_at=timezone.now(), wait_reason="")
                done = FileImport.objects.get(id=held.pk).done
                record("import_finished", "import", held.pk, project_id=held.project_id, details=dict(done))
                # Everything in the file is stored or reported.
                delete_import_file(project_id=held.project_id, import_id=held.pk)


def _run(held: FileImport, chunks: int | None, stop: Callable[[], bool], on_progress: Callable[[int], None]) -> bool:
    """Import chunks; return True after the last one. Raises QueueFull, QuotaExceeded, LostLease, ProjectArchived."""
    project_id, begin = held.project_id, held.position
    readable = (each for each in chunks_of(held) if not isinstance(each, ImportProblem))  # the check has reported them
    for number, each in enumerate(readable, start=1):
        if number <= begin:
            if number % RENEW_EVERY == 0:
                with reporting(held):
                    pass
            continue
        if stop() or (chunks is not None and number > begin + chunks):
            return False
        if Project.objects.filter(id=project_id, archived_at__isnull=False).exists():
            raise ProjectArchived
        check_room_for_import(project_id=project_id)
        with reporting(held) as row:
            row.done = dict(Counter(row.done) + Counter(_stored(row, each)))
            row.position, row.wait_reason = number, ""
        on_progress(number)
    return True


def _stored(held: FileImport, chunk: ImportChunk) -> Mapping[str, int]:
    """Store a chunk; return how many entries were stored, were known, and so on.

    Memories never replace what is known: what would do so waits for review.
    """
    known = known_in(held, chunk)
    if not chunk.memories:
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
        return {"turns": len(new), "known": len(known), "requests": int(bool(new))}
    check_quotas(project_id=held.project_id)
    wanted = [each for each in chunk.memories if each.external_id not in known]
    if not wanted:
        return {"known": len(chunk.memories)}
    request = StoreRequest(
        project_id=held.project_id,
        api_key_id=held.api_key_id,
        user_id=chunk.user_id,
        memories=tuple(with_origin(each, file_format=held.format, import_id=held.shown_id) for each in wanted),
        is_trusted=False,
        extractor=EXTRACTOR,
        may_replace=False,
    )
    refused = sum(each.memory_id is None for each in store_batch(request=request))
    stored = len(known_in(held, chunk) - known)
    return {
        "stored": stored,
        "merged": len(wanted) - refused - stored,
        "known": len(chunk.memories) - len(wanted),
        "refused": refused,
    }
