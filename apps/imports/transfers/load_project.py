"""Load an exported project into an empty one: one end user after the other, each in one transaction."""

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import Model

from apps.common.errors import Conflict
from apps.imports.readers.entries import ImportProblem
from apps.imports.transfers.identifier_map import IdentifierMap
from apps.imports.transfers.load_rows import BadRow, RowLoader, identifier_of, in_snake_case
from apps.imports.transfers.project_tables import OF_END_USER, OF_PROJECT, TransferTable
from apps.imports.transfers.row_blocks import RowBlock
from apps.memories.models import Entity, EntityAlias, Memory, MemoryVector
from apps.memories.services.indexing import write_vectors
from apps.outbox.enqueue import enqueue
from apps.pipeline.core.enums import LIVE_STATUSES, Handling, MemoryType, SensitiveKind, TraceStatus, WorkKind
from apps.pipeline.core.policy import IndexPolicy, Policy, RedactionPolicy
from apps.pipeline.indexing import index
from apps.pipeline.indexing.index import Indexable
from apps.providers import registry
from apps.tenants.models import EndUser
from apps.tenants.scope import tenant_scope
from apps.traces.models import ConfigurationVersion, PreFilterRule, Session, Trace, Turn
from apps.traces.policies import active_policy

AT_ONCE = 500  # rows per statement
# The items of nobody are rows of the project.
_OF_PROJECT = (*OF_PROJECT, *(table for table in OF_END_USER if table.kind == "items"))
_VECTORS = next(table for table in OF_END_USER if table.model is MemoryVector)
_QUESTIONS = MemoryVector._meta.get_field("questions")
_STRICTNESS = {Handling.KEEP: 0, Handling.MASK: 1, Handling.DROP: 2}
_HANDLED = [kind for kind in SensitiveKind if kind is not SensitiveKind.CUSTOM]
EMBEDDED_AT_ONCE = 100  # memories


def check_empty(*, project_id: UUID) -> None:
    """Raise Conflict if the project has end users: their rows and those of the export can't be told apart."""
    if EndUser.objects.for_project(project_id).exists():
        raise Conflict("the project is not empty: an export of a project is loaded into a new one")


class ProjectLoader:
    """Loads the blocks of one file into one project, in their order."""

    def __init__(self, *, project_id: UUID) -> None:
        self._project_id = project_id
        self._ids = IdentifierMap(project_id=project_id)
        self._rows = RowLoader(project_id=project_id, identifiers=self._ids)

    def skip(self, block: RowBlock) -> None:
        """Read a block that was loaded or refused before: later ones refer to rows of the project that were loaded."""
        if block.user:
            return
        self._ids.begin(exported=block.project)
        with suppress(BadRow):  # then it was refused
            named = self._name_rows(block, end_user_id=None)
            loaded: set[UUID] = set()
            for table in _OF_PROJECT:
                rows = table.model._default_manager.filter(pk__in=[self._ids.new(each) for each in named])
                loaded.update(rows.values_list("pk", flat=True))
            self._ids.forget([each for each in named if self._ids.new(each) not in loaded])

    def load(self, block: RowBlock) -> Mapping[str, int] | ImportProblem:
        """Load a block; return how many rows of each kind, or why nothing of it was loaded."""
        named: list[UUID] = []
        is_kept = False
        self._rows.follow_policy()
        self._ids.begin(exported=block.project)
        try:
            with transaction.atomic():
                if not block.user:
                    named = self._name_rows(block, end_user_id=None)
                    loaded = self._load_project(block)
                    is_kept = True  # users refer to them
                    return loaded
                former = identifier_of(block.user)
                user = self._ids.add_user(former, user_id=block.user_id)
                with tenant_scope(project_id=self._project_id, end_user_id=user):
                    named = [former, *self._name_rows(block, end_user_id=user)]
                    return self._load_user(block, user)
        except BadRow as bad:
            return ImportProblem(block.at, str(bad))
        except (IntegrityError, DataError) as error:
            return ImportProblem(block.at, f"the database refuses it: {type(error).__name__}")
        finally:
            if not is_kept:
                self._ids.forget(named)

    def _name_rows(self, block: RowBlock, *, end_user_id: UUID | None) -> list[UUID]:
        """Give new identifiers to all rows of a block, as rows refer to later ones too. Raises BadRow.

        Rows of tables that are not loaded with such a block get none: nothing may refer to them.
        """
        named: list[UUID] = []
        for table in OF_END_USER if block.user else _OF_PROJECT:
            for row in block.rows.get(table.kind, ()):
                former = identifier_of(row)
                if table.model is Session and end_user_id is not None:
                    self._ids.add_session(former, end_user_id=end_user_id, session_id=str(row.get("external_id", "")))
                else:
                    self._ids.add(former, model=table.model)
                named.append(former)
        return named

    def _load_project(self, block: RowBlock) -> Mapping[str, int]:
        """Replace the versions and rules that the project was created with by those of the file.

        Redaction never becomes less strict: in each version it is that of the project and that of the file together.
        """
        if versions := block.rows.get("configuration_versions"):
            self._keep_redaction(versions)
            PreFilterRule.objects.filter(project_id=self._project_id).delete()
            ConfigurationVersion.objects.filter(project_id=self._project_id).delete()
        return {table.kind: len(self._insert(table, block, None)) for table in _OF_PROJECT}

    def _keep_redaction(self, versions: Sequence[dict[str, Any]]) -> None:
        """Combine the redaction of the versions of a file with that of the project. Raises BadRow.

        Settings that servers before had, and this one has not, are left out.
        """
        mine = active_policy(project_id=self._project_id).redaction
        if sum(each.get("is_active") is True for each in versions) != 1:
            raise BadRow("configuration_versions without one that is active")
        for each in versions:
            try:
                policy = Policy.model_validate(in_snake_case(each.get("policy")), extra="ignore")
            except ValueError as error:
                raise BadRow("configuration_versions with other values than are known") from error
            combined = stricter_redaction(mine, policy.redaction)
            each["policy"] = policy.model_copy(update={"redaction": combined}).model_dump(mode="json")

    def _load_user(self, block: RowBlock, user: UUID) -> Mapping[str, int]:
        created_at = block.user.get("created_at")
        made = EndUser(id=user, project_id=self._project_id, external_id=block.user_id)
        made.created_at = EndUser._meta.get_field("created_at").to_python(created_at) or made.created_at
        made.save(force_insert=True)
        done: Counter[str] = Counter(users=1)
        inserted: dict[type[Model], Sequence[Any]] = {}
        for table in OF_END_USER:
            if table.model is MemoryVector:
                continue
            inserted[table.model] = self._insert(table, block, user)
            done[table.kind] += len(inserted[table.model])
        own_name = next((each.name for each in inserted[Entity] if each.is_user), "")
        embedded = self._embed(block, user, own_name, inserted[Memory])
        self._enqueue(user, inserted, embedded)
        return done

    def _insert(self, table: TransferTable, block: RowBlock, user: UUID | None) -> Sequence[Model]:
        rows = [self._rows.row(table, given, end_user_id=user) for given in block.rows.get(table.kind, ())]
        # Of names that are the same once they are redacted, one stays.
        are_names = table.model is EntityAlias
        table.model._default_manager.bulk_create(rows, batch_size=AT_ONCE, ignore_conflicts=are_names)
        return rows

    def _embed(self, block: RowBlock, user: UUID, own_name: str, memories: Sequence[Memory]) -> set[UUID]:
        """Compute the vectors of the embedder of this server, with the questions of the file; return whose."""
        known = {memory.pk: memory for memory in memories}
        embedder = registry.embedder()
        by_model: dict[str, list[Indexable]] = {}
        seen: set[UUID] = set()
        for row in block.rows.get("memory_vectors", ()):
            memory_id = self._ids.new(UUID(str(row.get("memory_id"))))
            if memory_id in known and memory_id not in seen:
                seen.add(memory_id)
                told = self._rows.words(_VECTORS, _QUESTIONS, [str(each) for each in row.get("questions") or ()])
                memory = Indexable(
                    id=memory_id,
                    type=MemoryType(known[memory_id].type),
                    content=known[memory_id].content,
                    model_questions=tuple(told),
                    user=own_name,
                )
                by_model.setdefault(str(row.get("questions_by") or ""), []).append(memory)
        for model, asked in by_model.items():
            for first in range(0, len(asked), EMBEDDED_AT_ONCE):
                some = asked[first : first + EMBEDDED_AT_ONCE]
                entries = index.run(some, embedder=embedder, policy=IndexPolicy(questions=0))
                write_vectors(end_user_id=user, entries=entries, embedder=embedder, questions_by=model[:120])
        return seen

    def _enqueue(self, user: UUID, inserted: Mapping[type[Model], Sequence[Any]], embedded: set[UUID]) -> None:
        """Enqueue what was waiting: pipeline runs, and vectors that the file did not name."""
        live = [each for each in inserted[Memory] if each.status in LIVE_STATUSES and each.pk not in embedded]
        with_turns = {turn.trace_id for turn in inserted[Turn]}
        queued: dict[tuple[UUID, WorkKind], list[UUID]] = {}
        for trace in inserted[Trace]:
            if trace.status == TraceStatus.QUEUED:
                kind = trace.work_kind(has_turns=trace.pk in with_turns)
                queued.setdefault((trace.session_id, kind), []).append(trace.pk)
        for (session_id, kind), traces in queued.items():
            self._add_work(user, kind, traces, session_id=session_id)
        if live:
            self._add_work(user, WorkKind.INDEX_MEMORY, [each.pk for each in live])

    def _add_work(self, user: UUID, kind: WorkKind, subjects: list[UUID], *, session_id: UUID | None = None) -> None:
        enqueue(end_user_id=user, project_id=self._project_id, kind=kind, subject_ids=subjects, session_id=session_id)


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
