"""What a rollback and its undo have in common for one end user: locks, rules of the plan, its application."""

from uuid import UUID

import msgspec
from django.db.models.functions import Now
from django.utils import timezone

from apps.actions.get_or_create import hold_end_user
from apps.actions.rollbacks.history import Kept
from apps.actions.rollbacks.plan import Rules
from apps.memories.codec import read_columns
from apps.memories.models import Rollback, RollbackItem
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.outbox.leases import interrupt
from apps.pipeline.core.enums import RollbackState
from apps.pipeline.core.plan import WritePlan
from apps.traces.models import Session
from apps.traces.policies import active_policy

MOST_TRIES = 3  # somebody may change a memory while the plan is made


def lock_item(rollback: Rollback, end_user_id: UUID, *, state: RollbackState) -> RollbackItem | None:
    """Keep other writers out until the transaction ends, in the lock order of writers: end user, then sessions.

    A worker locks the session of a trace before it commits it, so no trace of the user ends meanwhile. Returns the part
    of the rollback, None if it is no longer in the state. Raises Conflict while the end user is being erased.
    """
    hold_end_user(end_user_id)
    list(Session.objects.select_for_update().filter(end_user_id=end_user_id).order_by("id").values_list("id"))
    items = RollbackItem.objects.select_for_update().filter(end_user_id=end_user_id, rollback=rollback)
    return items.filter(state=state).first()


def save_item(item: RollbackItem) -> None:
    """Store what came of the part of a rollback, where the rows of its end user are."""
    RollbackItem.objects.filter(end_user_id=item.end_user_id, id=item.id).update(
        state=item.state, done=item.done, left_alone=item.left_alone, error=item.error, finished_at=item.finished_at
    )


def rules_of(project_id: UUID) -> Rules:
    """Return what plans of a project are made by."""
    return Rules(policy=active_policy(project_id=project_id).confidence, read=read_columns, now=timezone.now())


def write(*, rollback: Rollback, item: RollbackItem, plan: WritePlan, actor: str) -> None:
    """Apply a plan for one end user, and start the user's work again from what is stored then. Raises StalePlan."""
    context = WriteContext(
        project_id=rollback.project_id, end_user_id=item.end_user_id, actor=actor, rollback_id=rollback.id
    )
    apply_plan(plan=plan, context=context)
    interrupt(end_user_id=item.end_user_id)


def outdate_sessions(session_ids: list[UUID]) -> None:
    """Void what processes have cached of sessions: turns that were rolled back may be repeated."""
    Session.objects.filter(id__in=session_ids).update(last_turn_at=Now())


def kept_as_json(kept: tuple[Kept, ...]) -> list[dict[str, object]]:
    """Return what was left alone as JSON."""
    stored: list[dict[str, object]] = msgspec.to_builtins(kept)
    return stored


def kept_from_json(stored: list[dict[str, object]]) -> list[Kept]:
    """Read what was left alone."""
    return msgspec.convert(stored, list[Kept])
