"""What django-q2 runs, found by dotted name: one action a task, no arguments but identifiers. Never move this file."""

from uuid import UUID

from apps.actions.memories import archive_memories as archiving
from apps.actions.queue import prune as pruning
from apps.actions.rules import count_rule_hits as counting
from apps.actions.rules import run_preview as previewing
from apps.actions.sessions import end_idle_sessions as ending
from apps.actions.traces import tally as tallying
from apps.worker import drain as draining

DRAIN_SECONDS = 60.0  # then a drain ends and the next begins, so that a worker's process is renewed from time to time


def drain() -> int:
    """Drain the outbox for a minute, waiting for work when there is none; return how many rows were done."""
    return draining.drain(idle_seconds=DRAIN_SECONDS, most_seconds=DRAIN_SECONDS)


def count_rule_hits() -> int:
    """Count the hits of the pre-filter's rules; return how many turns were new."""
    return counting.count_rule_hits()


def tally() -> int:
    """Add up the last hours for the dashboard; return how many hours these were."""
    return tallying.tally()


def prune() -> int:
    """Remove past work and the answers to repeatable requests; return how many rows went."""
    return pruning.prune()


def end_idle_sessions() -> int:
    """End the sessions that have been idle for long; return how many these were."""
    return ending.end_idle_sessions()


def archive_memories() -> int:
    """Archive what has expired or decayed; return how many memories were."""
    return archiving.archive_memories()


def preview_rule(preview_id: str) -> None:
    """Try a rule on stored turns, as an admin asked."""
    previewing.run_preview(preview_id=UUID(preview_id))
