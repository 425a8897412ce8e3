"""Load an exported project into an empty one: one end user after the other, each in one transaction."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import DataError, IntegrityError, transaction
from django.db.models import Field, ForeignKey, JSONField, Model, UUIDField

from apps.common.errors import Conflict
from apps.imports.readers.entries import MOST_CONTENT, ImportProblem
from apps.imports.transfers.identifier_map import IdentifierMap
from apps.imports.transfers.project_tables import OF_END_USER, OF_PROJECT, TransferTable
from apps.imports.transfers.row_blocks import RowBlock, stored_texts
from apps.items.models import StoredItem
from apps.memories.codec import read_statement
from apps.memories.models import Entity, EntityAlias, EntityChange, Memory, MemoryVector
from apps.memories.services.indexing import write_vectors
from apps.outbox.enqueue import enqueue
from apps.pipeline.core.canonical import canonical_hash, canonical_text, salted_hash
from apps.pipeline.core.enums import LIVE_STATUSES, Handling, MemoryType, SensitiveKind, TraceStatus, WorkKind
from apps.pipeline.core.identifiers import end_user_id, session_id
from apps.pipeline.core.policy import IndexPolicy, Policy, RedactionPolicy
from apps.pipeline.indexing import index
from apps.pipeline.indexing.index import Indexable
from apps.providers import registry
from apps.tenants.models import EndUser
from apps.tenants.scope import tenant_scope
from apps.traces.models import ConfigurationVersion, PreFilterRule, Session, Trace, Turn
from apps.traces.policies import active_policy

AT_ONCE = 500  # rows per statement
EMBEDDED_AT_ONCE = 100  # memories
MOST_TEXT = 2 * MOST_CONTENT  # characters: a placeholder may be longer than what it replaces
# The items of nobody are rows of the project.
_OF_PROJECT = (*OF_PROJECT, *(table for table in OF_END_USER if table.model is StoredItem))
_VECTORS = next(table for table in OF_END_USER if table.model is MemoryVector)
_QUESTIONS = MemoryVector._meta.get_field("questions")
_STRICTNESS = {Handling.KEEP: 0, Handling.MASK: 1, Handling.DROP: 2}
_HANDLED = [kind for kind in SensitiveKind if kind is not SensitiveKind.CUSTOM]
_IN_CAPITALS = re.compile(r"(?:[A-Z][a-z]+)+")
_PERSON = re.compile(r"person:(\d+)")
_ACTORS = frozenset({"actor", "undone_by", "author", "labeller"})  # columns that name who did something


class BadRow(ValueError):
    """A row does not fit its table."""


def check_empty(*, project_id: UUID) -> None:
    """Raise Conflict if the project has end users: their rows and those of the export can't be told apart."""
    if EndUser.objects.for_project(project_id).exists():
        raise Conflict("the project is not empty: an export of a project is loaded into a new one")


class ProjectLoader:
    """Loads the blocks of one file into one project, in their order."""

    def __init__(self, *, project_id: UUID) -> None:
        self._project_id = project_id
        self._ids = IdentifierMap(project_id=project_id)
        self._redaction = RedactionPolicy()

    def skip(self, block: RowBlock) -> None:
        """Read a block that was loaded or refused before: later ones refer to rows of the project that were loaded."""
        if block.user:
            return
        self._ids.begin(exported=block.project)
        with suppress(BadRow):  # then it was refused
            named = self._name_rows(block, user=None)
            loaded: set[UUID] = set()
            for table in _OF_PROJECT:
                rows = table.model._default_manager.filter(pk__in=[self._ids.new(each) for each in named])
                loaded.update(rows.values_list("pk", flat=True))
            self._ids.forget([each for each in named if self._ids.new(each) not in loaded])

    def load(self, block: RowBlock) -> Mapping[str, int] | ImportProblem:
        """Load a block; return how many rows of each kind, or why nothing of it was loaded."""
        named: list[UUID] = []
        self._redaction = active_policy(project_id=self._project_id).redaction
        self._ids.begin(exported=block.project)
        try:
            with transaction.atomic():
                if not block.user:
                    named = self._name_rows(block, user=None)
                    loaded = self._load_project(block)
                    named = []  # kept: users refer to them
                    return loaded
                user = end_user_id(project_id=self._project_id, user_id=block.user_id)
                former = _identifier_of(block.user)
                self._ids.add(former, model=EndUser, new=user)
                with tenant_scope(project_id=self._project_id, end_user_id=user):
                    named = [former, *self._name_rows(block, user=user)]
                    return self._load_user(block, user)
        except BadRow as bad:
            return ImportProblem(block.at, str(bad))
        except (IntegrityError, DataError) as error:
            return ImportProblem(block.at, f"the database refuses it: {type(error).__name__}")
        finally:
            self._ids.forget(named)

    def _name_rows(self, block: RowBlock, *, user: UUID | None) -> list[UUID]:
        """Give new identifiers to all rows of a block, as rows refer to later ones too. Raises BadRow.

        Those of sessions are derived. Rows of tables that are not loaded with such a block get none: nothing may refer
        to them.
        """
        named: list[UUID] = []
        for table in OF_END_USER if user else _OF_PROJECT:
            for row in block.rows.get(table.kind, ()):
                former, new = _identifier_of(row), None
                if table.model is Session and user:
                    new = session_id(end_user_id=user, session_id=str(row.get("external_id", "")))
                self._ids.add(former, model=table.model, new=new)
                named.append(former)
        return named

    def _load_project(self, block: RowBlock) -> Mapping[str, int]:
        """Replace the versions and rules that the project was created with by those of the file.

        Redaction never becomes less strict: in each version it is that of the project and that of the file together.
        Settings that servers before had, and this one has not, are left out.
        """
        if versions := block.rows.get("configuration_versions"):
            if sum(each.get("is_active") is True for each in versions) != 1:
                raise BadRow("configuration_versions without one that is active")
            for each in versions:
                try:
                    policy = Policy.model_validate(_in_snake_case(each.get("policy")), extra="ignore")
                except ValueError as error:
                    raise BadRow("configuration_versions with other values than are known") from error
                combined = stricter_redaction(self._redaction, policy.redaction)
                each["policy"] = policy.model_copy(update={"redaction": combined}).model_dump(mode="json")
            PreFilterRule.objects.filter(project_id=self._project_id).delete()
            ConfigurationVersion.objects.filter(project_id=self._project_id).delete()
        return {table.kind: len(self._insert(table, block, None)) for table in _OF_PROJECT}

    def _load_user(self, block: RowBlock, user: UUID) -> Mapping[str, int]:
        created_at = block.user.get("created_at")
        made = EndUser(id=user, project_id=self._project_id, external_id=block.user_id)
        made.created_at = EndUser._meta.get_field("created_at").to_python(created_at) or made.created_at
        made.save(force_insert=True)
        tables = [table for table in OF_END_USER if table is not _VECTORS]
        inserted: dict[type[Model], Sequence[Any]] = {table.model: self._insert(table, block, user) for table in tables}
        own_name = next((each.name for each in inserted[Entity] if each.is_user), "")
        embedded = self._embed(block, user, own_name, inserted[Memory])
        # Enqueue what was waiting: pipeline runs, and vectors that the file did not name.
        live = [each.pk for each in inserted[Memory] if each.status in LIVE_STATUSES and each.pk not in embedded]
        with_turns = {turn.trace_id for turn in inserted[Turn]}
        queued: dict[tuple[UUID | None, WorkKind], list[UUID]] = {}
        for trace in inserted[Trace]:
            if trace.status == TraceStatus.QUEUED:
                kind = trace.work_kind(has_turns=trace.pk in with_turns)
                queued.setdefault((trace.session_id, kind), []).append(trace.pk)
        if live:
            queued[None, WorkKind.INDEX_MEMORY] = live
        for (session, kind), subjects in queued.items():
            enqueue(end_user_id=user, project_id=self._project_id, kind=kind, subject_ids=subjects, session_id=session)
        return {"users": 1, **{table.kind: len(inserted[table.model]) for table in tables}}

    def _insert(self, table: TransferTable, block: RowBlock, user: UUID | None) -> Sequence[Model]:
        rows = [self._row(table, given, user) for given in block.rows.get(table.kind, ())]
        # Of names that are the same once they are redacted, one stays.
        are_names = table.model is EntityAlias
        table.model._default_manager.bulk_create(rows, batch_size=AT_ONCE, ignore_conflicts=are_names)
        return rows

    def _embed(self, block: RowBlock, user: UUID, own_name: str, memories: Sequence[Memory]) -> set[UUID]:
        """Compute the vectors of the embedder of this server, with the questions of the file; return whose."""
        left = {memory.pk: memory for memory in memories}
        embedder = registry.embedder()
        by_model: dict[str, list[Indexable]] = {}
        for row in block.rows.get("memory_vectors", ()):
            if memory := left.pop(self._ids.new(UUID(str(row.get("memory_id")))), None):
                questions = self._words(_VECTORS, _QUESTIONS, [str(each) for each in row.get("questions") or ()])
                indexable = Indexable(
                    id=memory.pk,
                    type=MemoryType(memory.type),
                    content=memory.content,
                    model_questions=tuple(questions),
                    user=own_name,
                )
                by_model.setdefault(str(row.get("questions_by") or ""), []).append(indexable)
        for model, asked in by_model.items():
            for first in range(0, len(asked), EMBEDDED_AT_ONCE):
                some = asked[first : first + EMBEDDED_AT_ONCE]
                entries = index.run(some, embedder=embedder, policy=IndexPolicy(questions=0))
                write_vectors(end_user_id=user, entries=entries, embedder=embedder, questions_by=model[:120])
        return {memory.pk for memory in memories} - left.keys()

    def _row(self, table: TransferTable, given: dict[str, Any], user: UUID | None) -> Model:
        """Return a row, not saved. Raises BadRow."""
        # A column that the row lacks was added by a later version, and gets its default.
        fields = [field for field in table.fields if field.attname in given]
        given = {**given, **{each.attname: _in_snake_case(given[each.attname]) for each in fields if each.flatchoices}}
        values = {field.attname: self._value(table, field, given[field.attname]) for field in fields}
        names = {field.name for field in table.model._meta.concrete_fields}
        if "project" in names:
            values["project_id"] = self._project_id
        if "end_user" in names:
            values["end_user_id"] = user
        made = table.model(**values)
        # Read it as the product reads it, and set what follows from its values.
        try:
            if isinstance(made, ConfigurationVersion):
                made.as_policy()
            elif isinstance(made, PreFilterRule):
                made.as_rule()
            elif isinstance(made, Memory):
                former = Memory(**{field.attname: given[field.attname] for field in fields})
                made.canonical_hash = _hash(made, former)
            elif isinstance(made, EntityAlias | EntityChange) and made.alias != given["alias"]:
                made.folded = canonical_text(made.alias)[:255]
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise BadRow(f"{table.kind} with other values than are known") from error
        return made

    def _words(self, table: TransferTable, field: "Field[Any, Any]", value: Any) -> Any:
        """Return a column of texts as the project stores it. Raises BadRow."""
        redacts = self._redaction.items or table.model is not StoredItem
        try:
            told = stored_texts(field, value, policy=self._redaction, redacts=redacts)
        except TypeError as error:
            raise BadRow(f"{field.attname} does not fit") from error
        if field.attname == "content" and len(told) > MOST_TEXT:
            raise BadRow(f"{field.attname} is longer than {MOST_TEXT:,} characters")
        return told

    def _value(self, table: TransferTable, field: "Field[Any, Any]", value: Any) -> Any:
        """Return the value of a column. Raises BadRow."""
        if value is None:
            return None
        if field.attname in table.texts:
            value = self._words(table, field, value)
        if isinstance(field, JSONField):
            return self._ids.json(value) if field.attname in table.identifying else value
        try:
            read = (field.target_field if isinstance(field, ForeignKey) else field).to_python(value)
        except (ValidationError, TypeError, ValueError) as error:
            raise BadRow(f"{field.attname} does not fit") from error
        return self._plain(field, read)

    def _plain(self, field: "Field[Any, Any]", read: Any) -> Any:
        """Return the value of a column that is no JSON. Raises BadRow."""
        if field.flatchoices and read and read not in dict(field.flatchoices):
            raise BadRow(f"{field.attname} has a value that is not known")
        if isinstance(field, ForeignKey) and not self._ids.holds(read, model=field.related_model):
            raise BadRow(f"{field.attname} refers to a row that the file does not hold")
        if isinstance(field, UUIDField | ForeignKey):
            return self._ids.new(read)
        if field.attname in _ACTORS and isinstance(read, str):
            return self._ids.text(_PERSON.sub(r"person:elsewhere-\1", read))
        return read


def _hash(made: Memory, former: Memory) -> str:
    """Return the hash of a memory, which is that of its entities' identifiers; a salted one stays salted."""
    former.subject_id = UUID(str(former.subject_id)) if former.subject_id else None
    hashed = canonical_hash(read_statement(made))
    is_redacted = made.content != former.content or made.object_text != former.object_text
    if canonical_hash(read_statement(former)) == former.canonical_hash and not is_redacted:
        return hashed
    return salted_hash(hashed, memory_id=made.pk)


def _identifier_of(row: dict[str, Any]) -> UUID:
    """Return the identifier of a row. Raises BadRow."""
    try:
        return UUID(row["id"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadRow("has no id") from error


def _in_snake_case(value: Any) -> Any:
    """Return a text, or the keys of JSON, as enumerations are written: servers before wrote some as "NotSupported"."""
    if isinstance(value, dict):
        return {
            _in_snake_case(name): _in_snake_case(each) if isinstance(each, dict) else each
            for name, each in value.items()
        }
    is_former = isinstance(value, str) and _IN_CAPITALS.fullmatch(value)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", value).lower() if is_former else value


def stricter_redaction(first: RedactionPolicy, second: RedactionPolicy) -> RedactionPolicy:
    """Return the policy that handles each kind as the stricter one does, with the patterns and regions of both.

    The second one itself if that says the same.
    """
    named = {each.pattern: each for each in (*second.custom, *first.custom)}
    combined = RedactionPolicy(
        **{
            kind.value: max(first.handling(kind), second.handling(kind), key=_STRICTNESS.__getitem__)
            for kind in _HANDLED
        },
        items=first.items or second.items,
        phone_regions=tuple(dict.fromkeys((*second.phone_regions, *first.phone_regions)))[:10],
        custom=tuple(named.values())[:50],
    )
    return second if combined == second else combined
