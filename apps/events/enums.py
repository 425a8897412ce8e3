"""Types of events, and the states of messages about them."""

from enum import StrEnum


class DeliveryState(StrEnum):
    """The state of a message to one recipient."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"  # given up after the last attempt


class EventType(StrEnum):
    """What an event tells; those of memories are named after what has become of the memory."""

    MEMORY_CREATED = "memory.created"
    MEMORY_UPDATED = "memory.updated"
    MEMORY_SUPERSEDED = "memory.superseded"
    MEMORY_MERGED = "memory.merged"
    MEMORY_REJECTED = "memory.rejected"
    MEMORY_RETRACTED = "memory.retracted"
    MEMORY_ARCHIVED = "memory.archived"
    MEMORY_RESTORED = "memory.restored"
    MEMORY_DELETED = "memory.deleted"  # with the turns that alone stated it
    REVIEW_NEEDED = "review.needed"
    REVIEW_DECIDED = "review.decided"
    TRACE_FINISHED = "trace.finished"
    TRACE_FAILED = "trace.failed"
    USER_ERASED = "user.erased"
