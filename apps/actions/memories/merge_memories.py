"""Merge a memory into another that says the same."""

from typing import Any

from django.db import transaction

from apps.actions.memories.search_memories import active_policy
from apps.actions.memories.slot_conflicts import settle_slot
from apps.actions.review.review_decisions import Decided, Person, Seen, apply_decision, check_pair, find_seen
from apps.memories.models import Memory, MemoryOrigin
from apps.pipeline.core.confidence import with_recurrence
from apps.pipeline.core.enums import Status
from apps.pipeline.core.operations import AdoptOrigins, Operation, ReviseMemory


def merge_memories(*, by: Person, seen: Seen, into: Seen) -> Decided:
    """Hand a memory's sources to another of the same end user, which becomes active, and surer where days differ.

    Raises NotFound, and Conflict when either has changed since it was seen or isn't live any more.
    """
    memory, heir = find_seen(by=by, seen=seen), find_seen(by=by, seen=into)
    check_pair(memory, heir)
    with transaction.atomic():
        apply_decision(by=by, end_user_id=memory.end_user_id, operations=merge_operations(memory, heir))
    return Decided(memories=(seen.next(), into.next()))


def merge_operations(memory: Memory, heir: Memory) -> list[Operation]:
    """Return what merging a memory into its heir takes."""
    days = _distinct_days(memory, heir)
    confidence = with_recurrence(
        parts=heir.confidence_parts,
        weight=active_policy(project_id=heir.project_id).confidence.recurrence_weight,
        origins=days,
    )
    sure = {"confidence": confidence.value, "confidence_parts": confidence.parts(), "recurrence": days}
    stands, closing = _active(heir, apart_from=memory)
    return [
        ReviseMemory(
            memory_id=memory.pk,
            expected_version=memory.version,
            verb="merged",
            changes={"status": Status.MERGED, "superseded_by_id": heir.pk},
        ),
        ReviseMemory(memory_id=heir.pk, expected_version=heir.version, verb="took_over", changes={**stands, **sure}),
        *closing,
        AdoptOrigins(memory_id=heir.pk, from_id=memory.pk),
    ]


def _active(heir: Memory, *, apart_from: Memory) -> tuple[dict[str, Any], list[Operation]]:
    stands = {"status": Status.ACTIVE, "review_reasons": []}
    if heir.status == Status.ACTIVE:
        return stands, []
    return settle_slot(memory=heir, changes=stands, apart_from=[apart_from.pk])


def _distinct_days(memory: Memory, heir: Memory) -> int:
    """Count the distinct sessions and days that say either; repetition within both proves nothing."""
    origins = MemoryOrigin.objects.filter(end_user_id=heir.end_user_id, memory__in=[memory, heir])
    return max(1, len({(session, said.date()) for session, said in origins.values_list("session_id", "said_at")}))
