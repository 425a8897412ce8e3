"""Redact what was stored before redaction, or under a policy that masked less."""

from collections import Counter
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.db import models

from apps.items.models import StoredItem
from apps.memories.codec import read_statement
from apps.memories.models import Entity, EntityAlias, Memory, MemoryComment, MemoryOrigin, MemoryVector, MemoryVersion
from apps.memories.services.entities import redact_aliases
from apps.memories.services.revising import apply_operations
from apps.pipeline.core.canonical import canonical_hash, salted_hash
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.operations import EnqueueWork, ReviseMemory
from apps.pipeline.core.policy import RedactionPolicy
from apps.pipeline.redaction.redact import redact_json
from apps.tenants.scope import tenant_scope
from apps.traces.models import IdempotentRequest, ModelCall, Span, Trace, Turn
from apps.traces.policies import active_policy

BATCH = 200  # rows per transaction
_SOURCE_TEXTS = ("metadata", "further_sources")
_MEMORY_TEXTS = ("content", "object", "object_text", "evidence", "context", "topic", "tags", *_SOURCE_TEXTS)
_OF_USERS, _OF_PROJECT = "end_user__project_id", "project_id"
# Tables with their texts, and how they belong to a project. Memories come first: revising one leaves its former values
# in a version.
_TEXTS: tuple[tuple[type[models.Model], str, tuple[str, ...]], ...] = (
    (MemoryVersion, _OF_USERS, ("values",)),
    (MemoryOrigin, _OF_USERS, ("evidence",)),
    (MemoryComment, _OF_USERS, ("text",)),
    (MemoryVector, _OF_USERS, ("questions",)),
    (Entity, _OF_USERS, ("name",)),
    (Turn, _OF_USERS, ("content", "speaker")),
    (Trace, _OF_USERS, ("topic", "metadata", "outcomes", "plan", "error")),
    (Span, _OF_USERS, ("details",)),
    (ModelCall, _OF_USERS, ("answer", "error")),
    (IdempotentRequest, _OF_PROJECT, ("answer",)),
    (StoredItem, _OF_PROJECT, ("value", "words")),
)


def redact_history(
    *, project_id: UUID, is_dry_run: bool, progress: Callable[[str, int], None] = lambda table, rows: None
) -> dict[str, int]:
    """Redact the stored texts of a project by its active policy; return the number of changed rows per table.

    Each batch is a transaction of its own. Redacted rows stay as they are, so an interrupted run can be repeated.
    A dry run only counts. Raises StalePlan if a memory is being changed by others.
    """
    with tenant_scope(project_id=project_id):
        policy = active_policy(project_id=project_id).redaction
        changed: Counter[str] = Counter()
        for memory in Memory.objects.for_project(project_id).order_by("id").iterator(chunk_size=BATCH):
            changes = _redact(memory, _MEMORY_TEXTS, policy)
            changed[Memory._meta.db_table] += bool(changes)
            if not changes or is_dry_run:
                continue
            # The hash is salted, for others may differ only in what is gone.
            changes["canonical_hash"] = salted_hash(canonical_hash(read_statement(memory)), memory_id=memory.id)
            revised = ReviseMemory(memory.id, memory.version, verb="revised", changes=changes, note="redacted")
            index = EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory.id)
            apply_operations([revised, index], project_id=memory.project_id, end_user_id=memory.end_user_id)
        progress(Memory._meta.db_table, changed[Memory._meta.db_table])
        for model, owner, columns in _TEXTS:
            if model is StoredItem and not policy.items:
                continue  # the policy keeps items as they are
            rows, last = model._default_manager.filter(**{owner: project_id}).order_by("pk"), None
            while batch := list((rows.filter(pk__gt=last) if last else rows)[:BATCH]):
                last = batch[-1].pk
                redacted = [row for row in batch if _redact(row, columns, policy)]
                changed[model._meta.db_table] += len(redacted)
                if not is_dry_run:
                    model._default_manager.bulk_update(redacted, columns)
            progress(model._meta.db_table, changed[model._meta.db_table])
        aliases = EntityAlias._meta.db_table
        changed[aliases] = redact_aliases(project_id=project_id, policy=policy, is_dry_run=is_dry_run)
        progress(aliases, changed[aliases])
        return dict(changed)


def _redact(row: models.Model, columns: tuple[str, ...], policy: RedactionPolicy) -> dict[str, Any]:
    """Redact columns of a row, which is not saved; return those that this changes, with their redacted values."""
    redacted = {name: redact_json(getattr(row, name), policy=policy) for name in columns}
    changes = {name: value for name, value in redacted.items() if value != getattr(row, name)}
    for name, value in changes.items():
        setattr(row, name, value)
    return changes
