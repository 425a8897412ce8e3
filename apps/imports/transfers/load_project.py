"""Load an exported project with all its identifiers: its rows in one transaction, whole or not at all, then vectors.

Foreign keys of the database know no tenants, so each reference is looked up in the scope of the project: a file can
name no row of another one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from io import SEEK_END
from itertools import groupby
from operator import attrgetter
from typing import Annotated, Any, BinaryIO
from uuid import UUID

import msgspec
from django.core.exceptions import ValidationError
from django.db import DatabaseError, transaction
from django.db.models import ForeignKey, Model

from apps.common.errors import Unfit
from apps.imports.transfers.export_project import (
    END,
    END_USER,
    OF_END_USER,
    OF_PROJECT,
    PROJECT_SCHEMA,
    SCHEMA_VERSION,
    VECTORS,
    TransferTable,
)
from apps.memories.ledger.record import record
from apps.memories.services.indexing import indexables_of, missing, write_vectors
from apps.outbox.enqueue import enqueue
from apps.pipeline.core.enums import LIVE_STATUSES, TraceStatus, WorkKind
from apps.pipeline.core.policy import IndexPolicy
from apps.pipeline.core.ports import Embedder
from apps.pipeline.indexing import index
from apps.projects.services import create_project
from apps.providers import registry
from apps.tenants.models import EndUser, Project
from apps.tenants.scope import tenant_scope
from apps.traces.models import ConfigurationVersion, PreFilterRule, Trace
from apps.traces.runs import queue_trace

AT_ONCE = 100  # rows per statement, and memories that are embedded
MOST_LAST_LINE = 1_000  # bytes
_TABLES = {table.kind: table for table in (*OF_PROJECT, *OF_END_USER)}
_ACTORS = frozenset({"actor", "undone_by", "author", "labeller"})  # columns that name who did something
_PERSON = re.compile(r"person:(?=\d)")


class _Exported(msgspec.Struct):
    """The project of an export."""

    id: UUID
    name: str
    created_at: datetime
    slug: str = ""


class _Head(msgspec.Struct):
    """The first line of an export."""

    schema: str
    version: int
    project: _Exported


class _Line(msgspec.Struct):
    """A row of the table `kind`, and whose it is."""

    kind: str
    row: dict[str, Any]
    end_user_id: UUID | None = None
    number: int = 0


class _EndUserRow(msgspec.Struct):
    """The row of an end user."""

    id: UUID
    user_id: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    created_at: datetime


def load_project(file: BinaryIO, *, slug: str = "", name: str = "") -> tuple[Project, Counter[str]]:
    """Create the project of an export and load it; return it, and how many rows of each kind it has.

    Raises Unfit for a file that is not complete, is of another version or has a line that does not fit, Conflict if
    there is a project with its identifier or slug; ProviderError if only the vectors could not be computed.
    """
    exported = _checked(file)
    loaded: Counter[str] = Counter()
    with transaction.atomic():
        project = create_project(id=exported.id, name=name or exported.name, slug=slug or exported.slug)
        with tenant_scope(project_id=project.pk):
            Project.objects.filter(pk=project.pk).update(created_at=exported.created_at)
            # The file has its own in place of those that each project begins with.
            PreFilterRule.objects.filter(project=project).delete()
            ConfigurationVersion.objects.filter(project=project).delete()
        for end_user_id, lines in groupby(_lines(file), key=attrgetter("end_user_id")):
            with tenant_scope(project_id=project.pk, end_user_id=end_user_id):
                for kind, of_kind in groupby(lines, key=attrgetter("kind")):
                    rows = list(of_kind)
                    _insert(kind, rows, project.pk)
                    loaded[kind] += len(rows)
                # The pipeline runs of traces that wait.
                for trace in Trace.objects.filter(end_user_id=end_user_id, status=TraceStatus.QUEUED).order_by("id"):
                    queue_trace(trace)
        with tenant_scope(project_id=project.pk):
            record("project_loaded", "project", project.pk, project_id=project.pk, details=loaded)
    _load_vectors(file, project.pk)  # without a transaction: the embedder may be a model on another machine
    return project, loaded


def _checked(file: BinaryIO) -> _Exported:
    """Read the first line, and leave the file at the second one. Raises Unfit, also if the last line is missing."""
    file.seek(-min(MOST_LAST_LINE, file.seek(0, SEEK_END)), SEEK_END)
    last = file.read().rstrip().rpartition(b"\n")[2]
    file.seek(0)
    try:
        head = msgspec.json.decode(file.readline(), type=_Head)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Unfit(f"the file is no export of a project: {error}") from error
    if head.schema != PROJECT_SCHEMA:
        raise Unfit("the file is no export of a project")
    if head.version != SCHEMA_VERSION:
        raise Unfit(f"the file has version {head.version} of the schema; version {SCHEMA_VERSION} is read")
    with suppress(msgspec.DecodeError, UnicodeDecodeError):
        if msgspec.json.decode(last, type=_Line).kind == END:
            return head.project
    raise Unfit("the file is not complete: its last line is missing")


def _lines(file: BinaryIO) -> Iterator[_Line]:
    """Yield the rows behind the first line of a file. Raises Unfit at one that can't be read, or is of nobody there."""
    decoder = msgspec.json.Decoder(_Line)
    named: set[UUID | None] = {None}
    file.seek(0)
    file.readline()
    for number, raw in enumerate(file, start=2):
        try:
            line = decoder.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Unfit(f"line {number} is no row: {error}") from error
        if line.kind == END:
            return
        if line.kind == END_USER:
            named.add(line.end_user_id)
        elif line.kind not in _TABLES:
            raise Unfit(f"line {number} is of no known kind")
        elif line.end_user_id not in named:
            raise Unfit(f"line {number} belongs to an end user that the file does not name before")
        line.number = number
        yield line


def _insert(kind: str, lines: Sequence[_Line], project_id: UUID) -> None:
    """Insert rows of one kind, all of one end user or of none; vectors are only checked. Raises Unfit."""
    at = f"lines {lines[0].number} to {lines[-1].number}"
    try:
        if kind == END_USER:
            EndUser.objects.bulk_create(_end_user(line, project_id) for line in lines)
            return
        table = _TABLES[kind]
        rows = [_row(table, line, project_id) for line in lines]
        if kind != VECTORS:
            table.model._default_manager.bulk_create(rows, batch_size=AT_ONCE)
        for field in table.fields:
            if isinstance(field, ForeignKey):
                named = {getattr(row, field.attname) for row in rows} - {None}
                found = field.related_model._default_manager.filter(pk__in=named)
                if hasattr(field.related_model, "end_user_id"):
                    found = found.filter(end_user_id=lines[0].end_user_id)
                if found.count() < len(named):
                    raise Unfit(f"{at}: {field.attname} refers to a row that the file does not hold")
    except DatabaseError as error:
        reason = str(error).partition("\n")[0]  # it names the constraint
        raise Unfit(f"{at}: {reason}") from error


def _end_user(line: _Line, project_id: UUID) -> EndUser:
    try:
        row = msgspec.convert(line.row, _EndUserRow)
    except msgspec.ValidationError as error:
        raise Unfit(f"line {line.number} is no end user: {error}") from error
    if row.id != line.end_user_id:
        raise Unfit(f"line {line.number} is of another end user than it names")
    return EndUser(id=row.id, external_id=row.user_id, created_at=row.created_at, project_id=project_id)


def _row(table: TransferTable, line: _Line, project_id: UUID) -> Model:
    """Return a row, not saved. Raises Unfit."""
    owner = {"project_id": project_id, "end_user_id": line.end_user_id}
    columns = {field.attname for field in table.model._meta.concrete_fields}
    values = {name: each for name, each in owner.items() if name in columns}
    # A column that the row lacks was added by a later version, and gets its default.
    for field in (each for each in table.fields if each.attname in line.row):
        value = line.row[field.attname]
        if value is not None:
            try:
                value = field.to_python(value)
                is_known = not (field.flatchoices and value) or value in dict(field.flatchoices)
            except (ValidationError, TypeError, ValueError) as error:
                raise Unfit(f"line {line.number}: {field.attname} does not fit") from error
            if not is_known:
                raise Unfit(f"line {line.number}: {field.attname} has a value that is not known")
            value = _PERSON.sub("person:elsewhere-", value) if field.attname in _ACTORS else value
        values[field.attname] = value
    made = table.model(**values)
    try:
        if table.check:
            table.check(made)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise Unfit(f"line {line.number}: {table.kind} with other values than are known") from error
    return made


def _load_vectors(file: BinaryIO, project_id: UUID) -> None:
    """Compute the vectors of the file by the embedder of this server, and enqueue the memories that have none."""
    embedder = registry.embedder()
    for end_user_id, lines in groupby(_lines(file), key=attrgetter("end_user_id")):
        if end_user_id is None:
            continue
        with tenant_scope(project_id=project_id, end_user_id=end_user_id):
            vectors = [line.row for line in lines if line.kind == VECTORS]
            for first in range(0, len(vectors), AT_ONCE):
                _embed(end_user_id, vectors[first : first + AT_ONCE], embedder)
            live = missing(embedder=embedder).filter(end_user_id=end_user_id, status__in=LIVE_STATUSES)
            if left := list(live.values_list("id", flat=True)):
                enqueue(end_user_id=end_user_id, project_id=project_id, kind=WorkKind.INDEX_MEMORY, subject_ids=left)


def _embed(end_user_id: UUID, vectors: Sequence[Mapping[str, Any]], embedder: Embedder) -> None:
    """Compute the vectors of one end user's memories, with the questions of the file."""
    by_model: defaultdict[str, dict[UUID, tuple[str, ...]]] = defaultdict(dict)
    for each in vectors:
        by_model[each["questions_by"]][UUID(each["memory_id"])] = tuple(each["questions"])
    for model, asked in by_model.items():
        # A quote in another language is one of the questions.
        memories = [
            replace(each, model_questions=asked[each.id], foreign_quote="")
            for each in indexables_of(end_user_id, list(asked))
        ]
        entries = index.run(memories, embedder=embedder, policy=IndexPolicy(questions=0))
        write_vectors(end_user_id=end_user_id, entries=entries, embedder=embedder, questions_by=model)
