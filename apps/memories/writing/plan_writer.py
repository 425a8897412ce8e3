"""The only writer of memories: it applies a plan in one transaction, or raises StalePlan and writes nothing."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.memories.write_conflicts import stale_on_write_conflict
from apps.memories.writing.entity_writer import add_aliases, add_entities, move_aliases, rename_entities
from apps.memories.writing.ledger_writer import write_ledger
from apps.memories.writing.link_writer import link_memories, mark_links
from apps.memories.writing.memory_writer import add_memories, change_memories
from apps.memories.writing.origin_writer import add_origins, move_origins
from apps.memories.writing.write_context import WriteContext
from apps.outbox import enqueue
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.operations import EnqueueWork
from apps.pipeline.core.plan import WritePlan


class PostgresPlanWriter:
    """The writing port of a trace."""

    def apply(self, *, draft: Draft, plan: WritePlan) -> None:
        """Apply a trace's plan. Raises StalePlan."""
        request, origin = draft.request, draft.request.origin
        context = WriteContext(
            project_id=origin.project_id,
            end_user_id=origin.end_user_id,
            actor=f"trace:{request.trace_id}",
            trace_id=request.trace_id,
            session_id=origin.session_id,
            api_key_id=origin.api_key_id,
            topic=request.topic,
            metadata=request.metadata,
        )
        apply_plan(plan=plan, context=context)


def apply_plan(*, plan: WritePlan, context: WriteContext) -> None:
    """Apply a plan in one transaction: entities, memories, changes, links, ledger, owed work.

    Raises StalePlan when a memory has another version than the plan expects, an entity of it was merged away, or
    somebody else has written meanwhile what there is but once.
    """
    if not plan.operations:
        return
    now = timezone.now()
    with stale_on_write_conflict(), transaction.atomic():
        add_entities(plan=plan, context=context, now=now)
        rename_entities(plan=plan, end_user_id=context.end_user_id)
        add_aliases(plan=plan, context=context)
        move_aliases(plan=plan, end_user_id=context.end_user_id)
        add_memories(plan=plan, context=context, now=now)
        add_origins(plan=plan, context=context)
        change_memories(plan=plan, context=context, now=now)
        move_origins(plan=plan, end_user_id=context.end_user_id, now=now)
        link_memories(plan=plan, context=context)
        mark_links(plan=plan, end_user_id=context.end_user_id, now=now)
        write_ledger(plan=plan, context=context)
        _owe_work(plan, context)


def _owe_work(plan: WritePlan, context: WriteContext) -> None:
    owed: dict[WorkKind, list[UUID]] = {}
    for operation in plan.of(EnqueueWork):
        owed.setdefault(operation.kind, []).append(operation.memory_id)
    for kind, subject_ids in owed.items():
        enqueue.enqueue(
            end_user_id=context.end_user_id, project_id=context.project_id, kind=kind, subject_ids=subject_ids
        )
