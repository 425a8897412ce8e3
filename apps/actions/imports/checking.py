"""Check an import: read the whole file, count what it would bring, and write nothing else."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.fields.json import KT
from django.utils import timezone

from apps.actions.imports.lease import fail, leased, release, reporting
from apps.actions.imports.services import file_content
from apps.actions.transfers.load_project import check_empty
from apps.actions.transfers.row_blocks import RowBlock, row_blocks
from apps.imports.enums import ImportFormat, ImportState
from apps.imports.models import FileImport
from apps.imports.readers.chunks import ImportChunk, import_chunks
from apps.imports.readers.entries import ImportProblem, ImportSource
from apps.imports.readers.formats import file_entries, format_of
from apps.imports.readers.memories import ORIGIN
from apps.memories.models import Memory
from apps.pipeline import flow
from apps.pipeline.core import identifiers
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.identifiers import end_user_id, new_id
from apps.pipeline.core.turn import SourceTurn
from apps.tenants.scope import tenant_scope
from apps.traces.models import Turn
from apps.traces.policies import active_policy


def chunks_of(file_import: FileImport) -> Iterator[RowBlock | ImportChunk | ImportProblem]:
    """Yield the chunks of a file with a known format, the same ones each time. Raises Unfit."""
    content, file_format = file_content(file_import), ImportFormat(file_import.format)
    if file_format is ImportFormat.PROJECT:
        return row_blocks(content)
    source = ImportSource(
        name=PurePath(file_import.file_name).stem,
        now=file_import.created_at,
        user_id=file_import.user_id,
        users_by_name=file_import.users_by_name,
    )
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


MOST_PROBLEMS = 100  # that are stored with their places; all of them are counted
REPORT_EVERY = 100  # chunks


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


def check_import(*, import_id: UUID, stop: Callable[[], bool] = lambda: False) -> None:
    """Count the file's conversations, turns, memories, end users, duplicates of what is stored, and problems.

    Turns that the pre-filter would drop are counted by reason. Ignores an import that is not to be checked. Where a
    stop is wanted, the check is given back, and begins again.
    """
    with leased(import_id=import_id, since=ImportState.CHECKING, working=ImportState.CHECKING) as held:
        if held is None:
            return
        recognised = ImportFormat(held.format) if held.format else format_of(file_content(held))
        if isinstance(recognised, ImportProblem):
            fail(held, f"{recognised.at} {recognised.reason}")
            return
        held.format = recognised
        if recognised is ImportFormat.PROJECT:
            check_empty(project_id=held.project_id)
        findings, screening = FileFindings(), Screening(project_id=held.project_id)
        for number, each in enumerate(chunks_of(held), start=1):
            if stop():
                release(held, state=ImportState.CHECKING, resume_at=timezone.now())  # after others
                return
            _count(held, each, findings, screening)
            if number % REPORT_EVERY == 0:
                with reporting(held) as row:
                    row.counts = findings.as_json()
        release(
            held,
            state=ImportState.CHECKED,
            format=recognised,
            counts=findings.as_json(),
            problems=findings.problems,
            users=sorted(findings.users),
        )


def _count(
    held: FileImport, each: RowBlock | ImportChunk | ImportProblem, findings: FileFindings, screening: Screening
) -> None:
    if isinstance(each, ImportProblem):
        findings.counts["problems"] += 1
        if len(findings.problems) < MOST_PROBLEMS:
            findings.problems.append({"at": each.at, "reason": each.reason})
        return
    findings.counts["chunks"] += 1
    if each.user_id:
        findings.users.add(end_user_id(project_id=held.project_id, user_id=each.user_id))
    if isinstance(each, RowBlock):
        findings.rows.update({kind: len(rows) for kind, rows in each.rows.items()})
        return
    findings.counts["turns"] += len(each.turns)
    findings.counts["memories"] += len(each.memories)
    if each.memories:
        known = known_memories(project_id=held.project_id, chunk=each, file_format=held.format)
    else:
        findings.sessions.add(hash((each.user_id, each.session_id)))
        known = known_turns(project_id=held.project_id, chunk=each)
        findings.dropped.update(screening.drops(each, known=known))
    findings.counts["known"] += len(known)
