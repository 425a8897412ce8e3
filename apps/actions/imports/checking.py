"""Check an import: read the whole file, count what it would bring, and write nothing else."""

from collections import Counter
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from time import monotonic
from typing import Any
from uuid import UUID

import structlog
from django.db.models import F
from django.db.models.fields.json import KT
from django.utils import timezone

from apps.actions.errors import Refused
from apps.actions.imports.lease import claim, fail, reason_of, release, reporting
from apps.actions.imports.services import file_content, project_of_import
from apps.actions.transfers.load_project import check_empty
from apps.actions.transfers.row_blocks import row_blocks
from apps.imports.models import FileImport
from apps.imports.readers.chunks import ImportChunk, import_chunks
from apps.imports.readers.entries import EndUsers, ImportProblem, ImportSource
from apps.imports.readers.formats import file_entries, format_of
from apps.imports.readers.imported_memories import ORIGIN
from apps.memories.models import Memory
from apps.outbox.leased import LostLease
from apps.outbox.outages import is_outage
from apps.pipeline import flow
from apps.pipeline.core import identifiers
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import ImportFormat, ImportState
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.pipeline.core.turn import SourceTurn
from apps.tenants.scope import tenant_scope
from apps.traces.models import Turn
from apps.traces.policies import active_policy


def recognised_format(file_import: FileImport) -> ImportFormat | ImportProblem:
    """Return the format that was given, or else that of the file, or why it has none."""
    if file_import.format:
        return ImportFormat(file_import.format)
    return format_of(file_content(file_import))


def chunks_of(file_import: FileImport) -> Iterator[ImportChunk | ImportProblem]:
    """Yield the chunks of a file with a known format; the same ones each time."""
    source = ImportSource(
        name=PurePath(file_import.file_name).stem,
        now=file_import.created_at,
        users=EndUsers(file_import.user_id, file_import.users_by_name),
    )
    content, file_format = file_content(file_import), ImportFormat(file_import.format)
    return import_chunks(file_entries(content, file_format=file_format, source=source))


def known_turns(*, project_id: UUID, chunk: ImportChunk) -> frozenset[str]:
    """Return the turn_ids that are stored; those that a rollback has taken back are not."""
    user = identifiers.end_user_id(project_id=project_id, user_id=chunk.user_id)
    session = identifiers.session_id(end_user_id=user, session_id=chunk.session_id)
    with tenant_scope(project_id=project_id, end_user_id=user):
        stored = Turn.objects.filter(end_user_id=user, session_id=session, withdrawn=False)
        named = stored.filter(external_id__in=[each.turn.external_id for each in chunk.turns])
        return frozenset(named.values_list("external_id", flat=True))


def known_memories(*, project_id: UUID, chunk: ImportChunk, file_format: str) -> frozenset[str]:
    """Return the identifiers in the file of memories that were stored from such a file."""
    user = identifiers.end_user_id(project_id=project_id, user_id=chunk.user_id)
    with tenant_scope(project_id=project_id, end_user_id=user):
        stored = Memory.objects.filter(end_user_id=user, **{f"metadata__{ORIGIN}__from": file_format})
        named = stored.alias(named=KT(f"metadata__{ORIGIN}__id")).annotate(origin=F("named"))
        wanted = named.filter(origin__in=[each.external_id for each in chunk.memories])
        return frozenset(wanted.values_list("origin", flat=True))


CONTEXT_TURNS = 8  # that are said before a chunk; the pre-filter looks at the last ones


class Screening:
    """Judges the chunks of one file in their order, under the policy that is active now."""

    def __init__(self, *, project_id: UUID) -> None:
        self._project_id = project_id
        self._policy = active_policy(project_id=project_id)
        self._session = ("", "")
        self._earlier: tuple[SourceTurn, ...] = ()

    def drops(self, chunk: ImportChunk, *, known: Collection[str]) -> list[str]:
        """Return the reasons for which turns that are not known would be dropped, one each."""
        session = (chunk.user_id, chunk.session_id)
        if session != self._session:
            self._session, self._earlier = session, ()
        first = self._earlier[-1].position + 1 if self._earlier else 0
        now = timezone.now()
        turns = tuple(
            SourceTurn.accepted(each.turn, id=new_id(), position=position, received_at=now)
            for position, each in enumerate(chunk.turns, start=first)
            if each.turn.external_id not in known
        )
        if not turns:
            return []
        origin = Origin(project_id=self._project_id, end_user_id=new_id(), session_id=new_id())
        request = Request(trace_id=new_id(), origin=origin, turns=turns, earlier_turns=self._earlier)
        self._earlier = (*self._earlier, *turns)[-CONTEXT_TURNS:]
        return [drop.reason for drop in flow.screen(Draft.start(request=request, policy=self._policy)).drops]


log = structlog.get_logger(__name__)

MOST_PROBLEMS = 100  # that are stored with their places; all of them are counted
REPORT_EVERY = 100  # chunks
REPORT_SECONDS = 15.0  # at the latest


@dataclass
class FileFindings:
    """What a check has found so far."""

    counts: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    users: set[UUID] = field(default_factory=set)
    sessions: set[int] = field(default_factory=set)  # hashes
    rows: Counter[str] = field(default_factory=Counter)  # of an exported project, by kind
    problems: list[dict[str, str]] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the counts for the report."""
        kinds = ("chunks", "turns", "memories", "known", "problems")
        return {
            **{kind: self.counts[kind] for kind in kinds},
            "conversations": len(self.sessions),
            "users": len(self.users),
            "dropped": sum(self.dropped.values()),
            "dropped_by_reason": dict(self.dropped.most_common()),
            "rows": dict(self.rows),
        }


def check_import(*, import_id: UUID) -> None:
    """Count the file's conversations, turns, memories, end users, duplicates of what is stored, and problems.

    Turns that the pre-filter would drop are counted by reason. Ignores an import that is not to be checked.
    """
    for _ in checking(import_id=import_id):
        pass


def checking(*, import_id: UUID) -> Iterator[None]:
    """Do what `check_import` does, chunk by chunk, and give way after each; closed before the end, give it back."""
    project_id = project_of_import(import_id)
    if project_id is None:
        return
    with tenant_scope(project_id=project_id), suppress(LostLease):
        held = claim(import_id=import_id, since=ImportState.CHECKING, working=ImportState.CHECKING)
        if held is None:
            return
        try:
            yield from _check(held)
        except LostLease:
            raise
        except GeneratorExit:
            release(held, state=ImportState.CHECKING, resume_at=timezone.now())  # after others
            raise
        except Exception as error:  # whatever a file makes a reader raise, the check has to end with a state
            if is_outage(error):
                raise  # when the lease has ended, a process begins again
            if not isinstance(error, Refused):
                log.exception("check of import failed", file_import=str(import_id))
            fail(held, reason_of(error))


def _check(held: FileImport) -> Iterator[None]:
    recognised = recognised_format(held)
    if isinstance(recognised, ImportProblem):
        fail(held, f"{recognised.at} {recognised.reason}")
        return
    held.format = recognised
    findings = FileFindings()
    steps = _blocks(held, findings) if recognised is ImportFormat.PROJECT else _chunks(held, findings)
    reported = monotonic()
    for number, _ in enumerate(steps, start=1):
        if number % REPORT_EVERY == 0 or monotonic() - reported > REPORT_SECONDS:
            _report(held, findings)
            reported = monotonic()
        yield
    release(
        held,
        state=ImportState.CHECKED,
        format=recognised,
        counts=findings.as_json(),
        problems=findings.problems,
        users=sorted(findings.users),
    )


def _report(held: FileImport, findings: FileFindings) -> None:
    with reporting(held) as row:
        row.counts = findings.as_json()


def _chunks(held: FileImport, findings: FileFindings) -> Iterator[None]:
    screening = Screening(project_id=held.project_id)
    for each in chunks_of(held):
        if isinstance(each, ImportProblem):
            add_problem(findings, each)
        else:
            _count(held, each, findings, screening)
        yield


def _blocks(held: FileImport, findings: FileFindings) -> Iterator[None]:
    """Count the rows of an exported project. Raises Conflict, Unfit."""
    check_empty(project_id=held.project_id)
    for block in row_blocks(file_content(held)):
        if isinstance(block, ImportProblem):
            add_problem(findings, block)
        else:
            findings.counts["chunks"] += 1
            findings.rows.update({kind: len(rows) for kind, rows in block.rows.items()})
            if block.user:
                findings.users.add(end_user_id(project_id=held.project_id, user_id=block.user_id))
        yield


def add_problem(findings: FileFindings, problem: ImportProblem) -> None:
    """Count a problem, and keep it if it is one of the first."""
    findings.counts["problems"] += 1
    if len(findings.problems) < MOST_PROBLEMS:
        findings.problems.append({"at": problem.at, "reason": problem.reason})


def _count(held: FileImport, chunk: ImportChunk, findings: FileFindings, screening: Screening) -> None:
    findings.counts["chunks"] += 1
    findings.counts["turns"] += len(chunk.turns)
    findings.counts["memories"] += len(chunk.memories)
    findings.users.add(end_user_id(project_id=held.project_id, user_id=chunk.user_id))
    if chunk.memories:
        known = known_memories(project_id=held.project_id, chunk=chunk, file_format=held.format)
    else:
        findings.sessions.add(hash((chunk.user_id, chunk.session_id)))
        known = known_turns(project_id=held.project_id, chunk=chunk)
        findings.dropped.update(screening.drops(chunk, known=known))
    findings.counts["known"] += len(known)
