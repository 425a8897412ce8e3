"""The only writer of memories: it applies a plan in one transaction, or raises StalePlan and writes nothing."""

from collections import defaultdict
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.memories.write_conflicts import stale_on_write_conflict
from apps.memories.writing import entity_writer, rows
from apps.memories.writing.rows import WriteContext
from apps.outbox import enqueue
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.core.operations import EnqueueWork
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.tenants.end_users import UserBeingErased, keep_from_writers


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
            quotes_other_traces=request.is_session_level,
        )
        apply_plan(plan=plan, context=context)


def apply_plan(*, plan: WritePlan, context: WriteContext) -> None:
    """Apply a plan in one transaction: entities, memories, changes, links, ledger, outbox.

    Raises StalePlan if a memory has another version than the plan expects, if an entity was merged into another, if a
    turn that it quotes was deleted, if the end user is being erased, or if a concurrent writer has written something
    that exists only once.
    """
    if not plan.operations:
        return
    now = timezone.now()
    with stale_on_write_conflict(), transaction.atomic():
        if context.trace_id is None:  # who runs a trace has locked the end user already, in `apps/traces/recorder.py`
            try:
                keep_from_writers(context.end_user_id)
            except UserBeingErased as erased:
                raise StalePlan(str(erased)) from erased
        if context.quotes_other_traces:
            rows.keep_quoted_turns(plan=plan, context=context)
        entity_writer.add_entities(plan=plan, context=context, now=now)
        entity_writer.rename_entities(plan=plan, context=context, now=now)
        entity_writer.add_aliases(plan=plan, context=context, now=now)
        entity_writer.move_aliases(plan=plan, context=context, now=now)
        entity_writer.revise_entities(plan=plan, end_user_id=context.end_user_id, now=now)
        rows.add_memories(plan=plan, context=context, now=now)
        rows.add_origins(plan=plan, context=context)
        rows.change_memories(plan=plan, context=context, now=now)
        rows.move_origins(plan=plan, end_user_id=context.end_user_id, now=now)
        rows.mark_origins(plan=plan, end_user_id=context.end_user_id)
        rows.link_memories(plan=plan, context=context)
        rows.mark_links(plan=plan, end_user_id=context.end_user_id, now=now)
        rows.write_ledger(plan=plan, context=context)
        by_kind: defaultdict[WorkKind, list[UUID]] = defaultdict(list)
        for operation in plan.of(EnqueueWork):
            by_kind[operation.kind].append(operation.memory_id)
        for kind, subject_ids in by_kind.items():
            enqueue.enqueue(
                end_user_id=context.end_user_id, project_id=context.project_id, kind=kind, subject_ids=subject_ids
            )
