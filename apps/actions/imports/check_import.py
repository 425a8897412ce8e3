"""Check an import: read the whole file, count what it would bring, and write nothing else."""

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any
from uuid import UUID

import structlog
from django.utils import timezone

from apps.actions.errors import Refused
from apps.actions.imports.find_project import project_of_import
from apps.actions.imports.known_entries import known_memories, known_turns
from apps.actions.imports.lease import claim, fail, reason_of, release, reporting
from apps.actions.imports.read_file import chunks_of, recognised_format
from apps.actions.imports.screened_turns import Screening
from apps.actions.imports.stored_file import open_file
from apps.actions.transfers.load_project import check_empty
from apps.actions.transfers.row_blocks import row_blocks
from apps.imports.models import FileImport
from apps.imports.readers.chunks import ImportChunk
from apps.imports.readers.entries import ImportProblem
from apps.outbox.leased import LostLease
from apps.outbox.outages import is_outage
from apps.pipeline.core.enums import ImportFormat, ImportState
from apps.pipeline.core.identifiers import end_user_id
from apps.tenants.scope import tenant_scope

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
    if recognised is None:
        fail(held, "the format of the file is not recognised: name it")
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
    for block in row_blocks(open_file(held)):
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
