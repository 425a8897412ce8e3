"""Close a memory: it was true until a day, and nothing replaces it."""

from datetime import UTC, date, datetime, time
from typing import Any

from django.utils import timezone

from apps.actions.errors import Conflict, Unfit
from apps.actions.memories.close_ended_memories import ENDED
from apps.actions.memories.revise import apply_revision
from apps.actions.review.review_decisions import ReviewDecision, Reviewer, SeenVersion, decide_each, find_seen
from apps.memories.models import Memory
from apps.pipeline.core.enums import Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.ports import StalePlan


def close_memory(*, by: Reviewer, seen: SeenVersion, ends_on: date) -> ReviewDecision:
    """End the validity of an active memory at the start of a day in UTC, or where it began if that was on this day.

    A day in the future leaves it active until then.
    """
    return decide_each(seen=[seen], decide=lambda each: _close(by, each, ends_on))


def _close(by: Reviewer, seen: SeenVersion, ends_on: date) -> None:
    memory = find_seen(by=by, seen=seen)
    if memory.status != Status.ACTIVE:
        raise Unfit(f"a memory that is {memory.status.replace('_', ' ')} can't be closed")
    ends_at = _end(memory, ends_on)
    is_over = ends_at <= timezone.now()
    changes: dict[str, Any] = {"valid_until": ends_at} | ({"status": Status.SUPERSEDED} if is_over else {})
    closing = ReviseMemory(
        memory_id=memory.pk,
        expected_version=memory.version,
        verb=ENDED if is_over else "revised",
        changes=changes,
    )
    try:
        apply_revision(memory=memory, operations=[closing], api_key_id=by.api_key_id, person_id=by.person_id)
    except StalePlan as stale:
        raise Conflict("somebody else was faster") from stale


def _end(memory: Memory, ends_on: date) -> datetime:
    begins_on = memory.valid_from.astimezone(UTC).date()
    if ends_on < begins_on:
        raise Unfit(f"it is true from {begins_on} on, so it can't end before")
    if ends_on == begins_on:
        return memory.valid_from
    return datetime.combine(ends_on, time.min, tzinfo=UTC)
