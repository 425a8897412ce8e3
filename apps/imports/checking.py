"""Check an import: read the whole file, count what it would bring, and write nothing else."""

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.fields.json import KT
from django.utils import timezone

from apps.common.errors import Unfit
from apps.imports.enums import ImportFormat, ImportState
from apps.imports.models import FileImport
from apps.imports.readers.entries import ImportProblem, ImportSource
from apps.imports.readers.files import ImportChunk, file_entries, format_of, import_chunks
from apps.imports.readers.memories import ORIGIN
from apps.imports.services import file_content, leased, release, reporting
from apps.memories.models import Memory
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.identifiers import end_user_id, new_id, session_id
from apps.pipeline.core.turn import SourceTurn
from apps.tenants.scope import tenant_scope
from apps.traces.models import Turn
from apps.traces.policies import active_policy


def chunks_of(file_import: FileImport) -> Iterator[ImportChunk | ImportProblem]:
    """Yield the chunks of a file with a known format, the same ones each time."""
    source = ImportSource(
        name=PurePath(file_import.file_name).stem,
        now=file_import.created_at,
        user_id=file_import.user_id,
        users_by_name=file_import.users_by_name,
    )
    file_format = ImportFormat(file_import.format)
    return import_chunks(file_entries(file_content(file_import), file_format=file_format, source=source))


def known_in(held: FileImport, chunk: ImportChunk) -> frozenset[str]:
    """Return the turn_ids, or the identifiers of memories in the file, that are stored already.

    Turns that a rollback has taken back are not; memories are known from such a file alone.
    """
    user = end_user_id(project_id=held.project_id, user_id=chunk.user_id)
    with tenant_scope(project_id=held.project_id, end_user_id=user):
        if chunk.turns:
            session = session_id(end_user_id=user, session_id=chunk.session_id)
            turns = Turn.objects.filter(end_user_id=user, session_id=session, withdrawn=False)
            named = turns.filter(external_id__in=[each.turn.external_id for each in chunk.turns])
            return frozenset(named.values_list("external_id", flat=True))
        memories = Memory.objects.filter(end_user_id=user, **{f"metadata__{ORIGIN}__from": held.format})
        imported = memories.alias(named=KT(f"metadata__{ORIGIN}__id")).annotate(origin=F("named"))
        wanted = imported.filter(origin__in=[each.external_id for each in chunk.memories])
        return frozenset(wanted.values_list("origin", flat=True))


MOST_PROBLEMS = 100  # that are stored with their places; all of them are counted
REPORT_EVERY = 100  # chunks


class FileFindings:
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
        known = known_in(self._held, each)
        self._counts.update(chunks=1, turns=len(each.turns), memories=len(each.memories), known=len(known))
        self.users.add(end_user_id(project_id=self._held.project_id, user_id=each.user_id))
        if each.turns:
            self._sessions.add((each.user_id, each.session_id))
            now, new = timezone.now(), [turn.turn for turn in each.turns if turn.turn.external_id not in known]
            accepted = tuple(
                SourceTurn.accepted(turn, id=new_id(), position=position, received_at=now)
                for position, turn in enumerate(new)
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


def check_import(*, import_id: UUID, stop: Callable[[], bool] = lambda: False) -> None:
    """Count the file's conversations, turns, memories, end users, duplicates of what is stored, and problems.

    Turns that the pre-filter would drop are counted by reason. Ignores an import that is not to be checked. Where a
    stop is wanted, the check is given back, and begins again.
    """
    with leased(import_id=import_id, working=ImportState.CHECKING) as held:
        if held is None:
            return
        recognised = held.format or format_of(file_content(held))
        if isinstance(recognised, ImportProblem):
            raise Unfit(f"{recognised.at} {recognised.reason}")
        held.format = recognised
        findings = FileFindings(held)
        for number, each in enumerate(chunks_of(held), start=1):
            if stop():
                release(held, state=ImportState.CHECKING, resume_at=timezone.now())  # after others
                return
            findings.add(each)
            if number % REPORT_EVERY == 0:
                with reporting(held) as row:
                    row.counts = findings.counts()
        release(
            held,
            state=ImportState.CHECKED,
            format=recognised,
            counts=findings.counts(),
            problems=findings.problems,
            users=sorted(findings.users),
        )
