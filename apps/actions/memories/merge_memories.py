"""Merge a memory into another that says the same."""

from typing import Any

from django.db import transaction

from apps.actions.memories.slot_conflicts import settle_slot
from apps.actions.review.review_decisions import (
    ReviewDecision,
    Reviewer,
    SeenVersion,
    apply_decision,
    check_pair,
    find_seen,
)
from apps.memories.models import Memory, MemoryOrigin
from apps.pipeline.core.confidence import with_recurrence
from apps.pipeline.core.enums import Status
from apps.pipeline.core.operations import CopyOrigins, Operation, ReviseMemory
from apps.traces.policies import active_policy


def merge_memories(*, by: Reviewer, seen: SeenVersion, into: SeenVersion) -> ReviewDecision:
    """Hand a memory's sources to another of the same end user, which becomes active, and surer where days differ.

    Raises NotFound, and Conflict when either has changed since it was seen or isn't live any more.
    """
    memory, successor = find_seen(by=by, seen=seen), find_seen(by=by, seen=into)
    check_pair(memory, successor)
    with transaction.atomic():
        apply_decision(by=by, end_user_id=memory.end_user_id, operations=merge_operations(memory, successor))
    return ReviewDecision(memories=(seen.next(), into.next()))


def merge_operations(memory: Memory, successor: Memory) -> list[Operation]:
    """Return what merging a memory into its successor takes."""
    days = _distinct_days(memory, successor)
    confidence = with_recurrence(
        successor.confidence_parts,
        policy=active_policy(project_id=successor.project_id).confidence,
        origins=days,
    )
    sure = {"confidence": confidence.value, "confidence_parts": confidence.parts(), "recurrence": days}
    stands, closing = _active(successor, apart_from=memory)
    return [
        ReviseMemory(
            memory_id=memory.pk,
            expected_version=memory.version,
            verb="merged",
            changes={"status": Status.MERGED, "superseded_by_id": successor.pk},
        ),
        ReviseMemory(
            memory_id=successor.pk, expected_version=successor.version, verb="took_over", changes={**stands, **sure}
        ),
        *closing,
        CopyOrigins(memory_id=successor.pk, from_id=memory.pk),
    ]


def _active(successor: Memory, *, apart_from: Memory) -> tuple[dict[str, Any], list[Operation]]:
    stands = {"status": Status.ACTIVE, "review_reasons": []}
    if successor.status == Status.ACTIVE:
        return stands, []
    return settle_slot(memory=successor, changes=stands, apart_from=[apart_from.pk])


def _distinct_days(memory: Memory, successor: Memory) -> int:
    """Count the distinct sessions and days that say either; repetition within both proves nothing."""
    origins = MemoryOrigin.objects.filter(end_user_id=successor.end_user_id, memory__in=[memory, successor])
    return max(1, len({(session, said.date()) for session, said in origins.values_list("session_id", "said_at")}))
