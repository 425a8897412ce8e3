"""Merge a memory into another that says the same."""

from django.db import transaction

from apps.actions.get_or_create import hold_end_user
from apps.actions.review.review_context import context_to_decide
from apps.actions.review.review_decisions import (
    ReviewDecision,
    Reviewer,
    SeenVersion,
    apply_decision,
    check_pair,
    find_seen,
)
from apps.pipeline.review.decisions import Merge, operations_of


def merge_memories(*, by: Reviewer, seen: SeenVersion, into: SeenVersion) -> ReviewDecision:
    """Give the origins of a memory to another one of the same end user, which is approved.

    Origins of another day raise its confidence. Raises NotFound, and Conflict if either has changed since it was seen
    or is no longer live.
    """
    memory, successor = find_seen(by=by, seen=seen), find_seen(by=by, seen=into)
    check_pair(memory, successor)
    with transaction.atomic():
        hold_end_user(memory.end_user_id)
        context = context_to_decide([memory, successor])
        operations = operations_of(Merge(memory_id=memory.pk, into_id=successor.pk), context=context)
        apply_decision(by=by, end_user_id=memory.end_user_id, operations=operations)
    return ReviewDecision(memories=(seen.next(), into.next()))
