"""Check an import without writing anything, and run it: chunk by chunk, each in a transaction with its progress."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import PurePath
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F
from django.db.models.fields.json import KT
from django.utils import timezone

from apps.common.errors import ProjectArchived
from apps.imports.enums import ImportFormat, ImportState
from apps.imports.models import FileImport
from apps.imports.readers.entries import ImportProblem, ImportSource
from apps.imports.readers.files import ImportChunk, file_entries, format_of, import_chunks
from apps.imports.readers.memories import EXTRACTOR, ORIGIN, with_origin
from apps.imports.services import delete_import_file, file_content, leased, reporting
from apps.intake.accept import Submission, accept
from apps.intake.quotas import QueueFull, QuotaExceeded, check_quotas, check_room_for_import
from apps.memories.ledger.actor import acting_as
from apps.memories.ledger.record import record
from apps.memories.models import Memory
from apps.memories.services.store import StoreRequest, store_batch
from apps.outbox.leased import release_row
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.turn import NewTurn, SourceTurn
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.traces.get_or_create import actor_of
from apps.traces.models import Turn
from apps.traces.policies import active_policy

MOST_PROBLEMS = 100  # that are stored with their places; all of them are counted
REPORT_EVERY = 100  # chunks that are counted, or were imported earlier: only this renews the lease while they are read
METADATA = "import"  # the key of the metadata of a trace under which its import is named


def chunks_of(held: FileImport) -> Iterator[ImportChunk | ImportProblem]:
    """Yield the chunks of a file with a known format, the same ones each time."""
    name = PurePath(held.file_name).stem
    source = ImportSource(name, held.created_at, user_id=held.user_id, users_by_name=held.users_by_name)
    return import_chunks(file_entries(file_content(held), file_format=ImportFormat(held.format), source=source))


def known_in(held: FileImport, chunk: ImportChunk) -> frozenset[str]:
    """Return the turn_ids, or the identifiers of memories in the file, that are stored already.

    Turns that a rollback has taken back are not; memories are known from such a file alone.
    """
    names = [each.external_id for each in chunk]
    user = end_user_id(project_id=held.project_id, user_id=chunk[0].user_id)
    with tenant_scope(project_id=held.project_id, end_user_id=user):
        if chunk[0].session_id:
            session = session_id(end_user_id=user, session_id=chunk[0].session_id)
            turns = Turn.objects.filter(end_user_id=user, session_id=session, withdrawn=False, external_id__in=names)
            return frozenset(turns.values_list("external_id", flat=True))
        memories = Memory.objects.filter(end_user_id=user, **{f"metadata__{ORIGIN}__from": held.format})
        imported = memories.alias(named=KT(f"metadata__{ORIGIN}__id")).annotate(origin=F("named"))
        return frozenset(imported.filter(origin__in=names).values_list("origin", flat=True))


def run_import(
    *,
    import_id: UUID,
    chunks: int | None = None,
    stop: Callable[[], bool] = lambda: False,
    on_progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Check the whole file, or import what is left, up to so many chunks; ignore an import that is not due.

    It is given back where a stop is wanted, and where the queue is half full or a quota used up until there is room.
    `on_progress` gets the number of chunks that are imported.
    """
    with leased(import_id=import_id) as held:
        if held is None:
            return
        if held.state == ImportState.CHECKING:
            _check(held, stop)
            return
        with acting_as(actor_of(held.api_key_id, held.person_id)):
            is_done, reason, seconds = False, "", 0.0  # until others had their turn
            try:
                is_done = _run(held, chunks, stop, on_progress)
            except (QueueFull, QuotaExceeded) as full:
                reason, seconds = str(full), full.retry_after
            if not is_done:
                resume_at = timezone.now() + timedelta(seconds=seconds)
                release_row(held, state=ImportState.WAITING, wait_reason=reason, resume_at=resume_at)
                return
            with transaction.atomic():
                release_row(held, state=ImportState.DONE, finished_at=timezone.now(), wait_reason="")
                done = FileImport.objects.get(id=held.pk).done
                record("import_finished", "import", held.pk, project_id=held.project_id, details=dict(done))
                # Everything in the file is stored or reported.
                delete_import_file(project_id=held.project_id, import_id=held.pk)


def _check(held: FileImport, stop: Callable[[], bool]) -> None:
    """Count the file's conversations, turns, memories, end users, duplicates of what is stored, and problems.

    Turns that the pre-filter would drop are counted by reason. Where a stop is wanted, it begins again later.
    """
    held.format = held.format or format_of(file_content(held))
    findings = _Findings(held)
    for number, each in enumerate(chunks_of(held), start=1):
        if stop():
            release_row(held, resume_at=timezone.now())  # after others
            return
        findings.add(each)
        if number % REPORT_EVERY == 0:
            with reporting(held) as row:
                row.counts = findings.counts()
    found = {"counts": findings.counts(), "problems": findings.problems, "users": sorted(findings.users)}
    release_row(held, state=ImportState.CHECKED, format=held.format, **found)


class _Findings:
    """What a check has found so far."""

    def __init__(self, held: FileImport) -> None:
        self._held = held
        self._policy = active_policy(project_id=held.project_id)
        self._counts = Counter(chunks=0, turns=0, memories=0, known=0, problems=0)
        self._dropped: Counter[str] = Counter()
        self._sessions: set[tuple[str, str]] = set()
        self.users: set[UUID] = set()
        self.problems: list[dict[str, str]] = []

    def add(self, each: ImportChunk | ImportProblem) -> None:
        """Count a chunk, with the turns of it that the pre-filter would drop, or a problem."""
        if isinstance(each, ImportProblem):
            self._counts["problems"] += 1
            if len(self.problems) < MOST_PROBLEMS:
                self.problems.append({"at": each.at, "reason": each.reason})
            return
        known, turns = known_in(self._held, each), _turns_in(each)
        self._counts.update(chunks=1, turns=len(turns), memories=len(each) - len(turns), known=len(known))
        self.users.add(end_user_id(project_id=self._held.project_id, user_id=each[0].user_id))
        if turns:
            self._sessions.add((each[0].user_id, each[0].session_id))
            now = timezone.now()
            accepted = tuple(
                SourceTurn.accepted(turn, id=new_id(), position=position, received_at=now)
                for position, turn in enumerate(turn for turn in turns if turn.external_id not in known)
            )
            origin = Origin(project_id=self._held.project_id, end_user_id=new_id(), session_id=new_id())
            request = Request(trace_id=new_id(), origin=origin, turns=accepted)
            drops = flow.screen(Draft.start(request=request, policy=self._policy)).drops
            self._dropped.update(drop.reason for drop in drops)

    def counts(self) -> dict[str, Any]:
        """Return the counts for the report."""
        return {
            **self._counts,
            "conversations": len(self._sessions),
            "users": len(self.users),
            "dropped": self._dropped.total(),
            "dropped_by_reason": dict(self._dropped.most_common()),
        }


def _turns_in(chunk: ImportChunk) -> list[NewTurn]:
    return [each.said for each in chunk if isinstance(each.said, NewTurn)]


def _run(held: FileImport, chunks: int | None, stop: Callable[[], bool], on_progress: Callable[[int], None]) -> bool:
    """Import chunks; return True after the last one. Raises QueueFull, QuotaExceeded, LostLease, ProjectArchived."""
    project_id, begin = held.project_id, held.position
    readable = (each for each in chunks_of(held) if not isinstance(each, ImportProblem))  # the check has reported them
    for number, each in enumerate(readable, start=1):
        if number <= begin:
            if number % REPORT_EVERY == 0:
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
    project_id, api_key_id, user_id = held.project_id, held.api_key_id, chunk[0].user_id
    known = known_in(held, chunk)
    new = [each for each in chunk if each.external_id not in known]
    if chunk[0].session_id:
        if turns := tuple(_turns_in(new)):
            # It is awaited, as the further turns of the session are in the file.
            session, metadata = chunk[0].session_id, {METADATA: held.shown_id}
            accept(
                submission=Submission(
                    project_id, api_key_id, user_id, session, turns, metadata=metadata, is_awaited=True
                )
            )
        return {"turns": len(turns), "known": len(known), "requests": int(bool(turns))}
    check_quotas(project_id=project_id)
    origin = {"file_format": held.format, "import_id": held.shown_id}
    memories = tuple(
        with_origin(each.said, each.external_id, **origin) for each in new if isinstance(each.said, NewMemory)
    )
    request = StoreRequest(
        project_id, api_key_id, user_id, memories, is_trusted=False, extractor=EXTRACTOR, may_replace=False
    )
    refused = sum(each.memory_id is None for each in store_batch(request=request))
    stored = len(known_in(held, chunk) - known)
    return {
        "stored": stored,
        "merged": len(new) - refused - stored,
        "known": len(chunk) - len(new),
        "refused": refused,
    }
