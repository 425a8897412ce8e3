"""Let memories decay, expire, be archived and close."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import chain, islice
from time import monotonic
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.memories.models import Memory
from apps.memories.querysets import MemoryQuerySet
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.outbox.rounds import Position, Step, begin_round, continue_round
from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, MemoryType, Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import DecayPolicy
from apps.pipeline.core.ports import StalePlan
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.policies import active_policy

log = structlog.get_logger(__name__)

BATCH = 1_000  # memories per statement, so that no statement locks rows for long
JOB = "archive_memories"
A_DAY = timedelta(days=1)
AN_HOUR = timedelta(hours=1)
ENDED = "ended"  # the verb of history and ledger
_SCORED = ("type", "tags", "importance", "said_at", "created_at", "expires_at", "last_accessed", "access_count")


def decay_score(memory: Memory, *, now: datetime, policy: DecayPolicy) -> float:
    """Return weighted importance, freshness and use: 0 to 1.

    Freshness halves with every half-life of the type since the memory was said or, if imported later, written; use is
    1 - 2^-n for n accesses, and halves in the same way since the last one. Future events are fresh.
    """
    half_life = policy.half_life(MemoryType(memory.type))
    freshness = _halved(max(memory.said_at, memory.created_at), now, half_life)
    used = memory.last_accessed
    use = (1 - 0.5**memory.access_count) * _halved(used, now, half_life) if used else 0.0
    score = policy.importance * memory.importance + policy.freshness * freshness + policy.access * use
    return min(1.0, max(0.0, score))


def is_past(memory: Memory, *, now: datetime, policy: DecayPolicy) -> bool:
    """Return True if a memory is to be archived because it has expired or decayed; rules set by people never decay."""
    if memory.expires_at is not None and memory.expires_at <= now:
        return True
    if CONSTRAINT in memory.tags or CONVENTION in memory.tags:
        return False
    return decay_score(memory, now=now, policy=policy) < policy.archive_below


def _halved(since: datetime, now: datetime, half_life_days: float) -> float:
    days = max((now - since) / A_DAY, 0.0)
    result: float = 0.5 ** (days / half_life_days)
    return result


def archive_memories(*, most: timedelta = A_DAY) -> int:
    """Begin to archive memories of all end users; return how many were archived.

    What is left when the time is up is done by `continue_archiving`. Memories that another writer changes at the same
    time are left for the next round.
    """
    begin_round(job=JOB)
    return continue_archiving(most=most)


def continue_archiving(*, most: timedelta) -> int:
    """Go on with a round that is not finished; return how many memories were archived."""
    return continue_round(job=JOB, most=most, steps=_steps)


def _steps(position: Position) -> Iterator[Step]:
    now, left = timezone.now(), Memory.objects.active()
    if position:
        left = left.filter(end_user_id__gt=UUID(position["end_user"]))
    for project_id, user in _owners_of(left):
        with tenant_scope(project_id=project_id, end_user_id=user):
            archived = archive_of(project_id=project_id, end_user_id=user, now=now)
        yield Step({"end_user": str(user)}, archived)


def _owners_of(memories: MemoryQuerySet) -> Iterator[tuple[UUID, UUID]]:
    """Return the project and the end user of memories of all projects, each pair once, in the order of end users."""
    pairs = memories.order_by("end_user_id").distinct().values_list("project_id", "end_user_id")
    with system_scope(SystemWork.SCHEDULE):
        rows = pairs.iterator(chunk_size=BATCH)
        first = list(islice(rows, 1))  # runs the query, which chooses all of its rows in this scope
    return chain(first, rows)


def archive_of(*, project_id: UUID, end_user_id: UUID, now: datetime) -> int:
    """Score the active memories of one end user by the project's policy; return how many were archived."""
    policy = active_policy(project_id=project_id).decay
    rows = Memory.objects.for_end_user(end_user_id).active().only("version", "decay_score", *_SCORED).order_by("id")
    found, archived = iter(rows.iterator(chunk_size=BATCH)), 0
    memories = Memory.objects.for_end_user(end_user_id)
    while batch := list(islice(found, BATCH)):
        # Two decimals suffice for display and leave most rows unchanged from day to day.
        scores = {row.id: round(decay_score(row, now=now, policy=policy), 2) for row in batch}
        changed = [row.id for row in batch if row.decay_score != scores[row.id]]
        with transaction.atomic():
            # Rows that another transaction has locked are skipped, so that this one never waits while it holds others.
            free = memories.filter(id__in=changed).only("id").order_by("id")
            locked = list(free.select_for_update(no_key=True, skip_locked=True))
            for row in locked:
                row.decay_score = scores[row.id]
            memories.bulk_update(locked, ["decay_score"])
        revisions = [
            ReviseMemory(
                memory_id=row.id,
                expected_version=row.version,
                verb="expired" if row.expires_at is not None and row.expires_at <= now else "archived",
                changes={"status": Status.ARCHIVED},
            )
            for row in batch
            if is_past(row, now=now, policy=policy)
        ]
        archived += _revise(revisions, project_id, end_user_id)
    return archived


def _revise(revisions: Sequence[ReviseMemory], project_id: UUID, end_user_id: UUID) -> int:
    """Revise memories of one end user in one transaction; return how many, 0 if another writer has changed one."""
    try:
        context = WriteContext(project_id=project_id, end_user_id=end_user_id, actor="system")
        apply_plan(plan=WritePlan(operations=tuple(revisions)), context=context)
    except StalePlan as stale:
        log.info("archiving or closing put off", end_user=str(end_user_id), reason=str(stale))
        return 0
    return len(revisions)


def close_ended_memories(*, most: timedelta = AN_HOUR) -> int:
    """Close active memories of all end users whose `valid_until` has passed; return how many were closed.

    A memory that is changed at the same time, and what is left when the time is up, is left for the next run.
    """
    now, started = timezone.now(), monotonic()
    closed = 0
    for project_id, user in _owners_of(Memory.objects.ended(now)):
        with tenant_scope(project_id=project_id, end_user_id=user):
            rows = Memory.objects.for_end_user(user).ended(now).order_by("id").values_list("id", "version")
            found = iter(rows.iterator(chunk_size=BATCH))
            while batch := list(islice(found, BATCH)):
                revisions = [ReviseMemory(*each, verb=ENDED, changes={"status": Status.SUPERSEDED}) for each in batch]
                closed += _revise(revisions, project_id, user)
        if monotonic() - started >= most.total_seconds():
            break
    return closed
