"""Let memories decay, expire, be archived and close."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from time import monotonic
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.memories.models import Memory
from apps.memories.services.owners import owners_of
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.rows import WriteContext
from apps.outbox.rounds import Position, Step, begin_round, continue_round
from apps.pipeline.core.enums import CONSTRAINT, CONVENTION, MemoryType, Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import DecayPolicy
from apps.pipeline.core.ports import StalePlan
from apps.tenants.scope import tenant_scope
from apps.traces.policies import active_policy

_SECONDS_A_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class DecayInput:
    """The values of an active memory that decay depends on."""

    type: MemoryType
    importance: float
    fresh_at: datetime  # when it was said or, if imported later, written
    tags: Collection[str] = ()
    expires_at: datetime | None = None
    last_accessed: datetime | None = None
    access_count: int = 0


def decay_score(*, standing: DecayInput, now: datetime, policy: DecayPolicy) -> float:
    """Return weighted importance, freshness and use: 0 to 1.

    Freshness halves with every half-life of the type since the memory was stated; use is 1 - 2^-n for n accesses, and
    halves in the same way since the last one. Future events are fresh.
    """
    half_life = policy.half_life(standing.type)
    freshness = _halved(standing.fresh_at, now, half_life)
    used = standing.last_accessed
    use = (1 - 0.5**standing.access_count) * _halved(used, now, half_life) if used else 0.0
    score = policy.importance * standing.importance + policy.freshness * freshness + policy.access * use
    return min(1.0, max(0.0, score))


def is_past(*, standing: DecayInput, now: datetime, policy: DecayPolicy) -> bool:
    """Return True if a memory is to be archived because it has expired or decayed; rules set by people never decay."""
    if standing.expires_at is not None and standing.expires_at <= now:
        return True
    if CONSTRAINT in standing.tags or CONVENTION in standing.tags:
        return False
    return decay_score(standing=standing, now=now, policy=policy) < policy.archive_below


def _halved(since: datetime, now: datetime, half_life_days: float) -> float:
    days = max((now - since).total_seconds(), 0.0) / _SECONDS_A_DAY
    result: float = 0.5 ** (days / half_life_days)
    return result


log = structlog.get_logger(__name__)

BATCH = 1_000  # memories per statement, so that no statement locks rows for long
ACTOR = "system"
JOB = "archive_memories"
A_DAY = timedelta(days=1)


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
    now = timezone.now()
    after = UUID(position["end_user"]) if position else None
    for project_id, user in owners_of(Memory.objects.active(), after=after):
        with tenant_scope(project_id=project_id, end_user_id=user):
            archived = archive_of(project_id=project_id, end_user_id=user, now=now)
        yield Step({"end_user": str(user)}, archived)


def archive_of(*, project_id: UUID, end_user_id: UUID, now: datetime) -> int:
    """Score the active memories of one end user by the project's policy; return how many were archived."""
    policy = active_policy(project_id=project_id).decay
    rows = (
        Memory.objects.for_end_user(end_user_id)
        .active()
        .only(
            "id", "version", "type", "tags", "importance", "said_at", "created_at", "expires_at",
            "last_accessed", "access_count", "decay_score",
        )
        .order_by("id")
    )  # fmt: skip
    iterator = iter(rows.iterator(chunk_size=BATCH))
    archived = 0
    while batch := list(islice(iterator, BATCH)):
        _update_scores(batch, end_user_id, now, policy)
        past = [row for row in batch if is_past(standing=_standing(row), now=now, policy=policy)]
        archived += _archive(past, project_id, end_user_id, now) if past else 0
    return archived


def _archive(rows: Sequence[Memory], project_id: UUID, end_user_id: UUID, now: datetime) -> int:
    """Archive memories of one end user in one transaction; return how many, 0 if another writer has changed one."""
    operations = (
        ReviseMemory(
            memory_id=row.id,
            expected_version=row.version,
            verb="expired" if row.expires_at is not None and row.expires_at <= now else "archived",
            changes={"status": Status.ARCHIVED},
        )
        for row in rows
    )
    try:
        context = WriteContext(project_id=project_id, end_user_id=end_user_id, actor=ACTOR)
        apply_plan(plan=WritePlan(operations=tuple(operations)), context=context)
    except StalePlan as stale:
        log.info("archival postponed", end_user=str(end_user_id), reason=str(stale))
        return 0
    return len(rows)


def _update_scores(rows: Sequence[Memory], end_user_id: UUID, now: datetime, policy: DecayPolicy) -> None:
    """Store the scores with two decimals, which suffices for display and leaves most rows unchanged from day to day."""
    scores = {row.id: round(decay_score(standing=_standing(row), now=now, policy=policy), 2) for row in rows}
    changed = [row.id for row in rows if row.decay_score != scores[row.id]]
    memories = Memory.objects.for_end_user(end_user_id)
    with transaction.atomic():
        # Rows that another transaction has locked are skipped, so that this one never waits while it holds others.
        free = memories.filter(id__in=changed).only("id").order_by("id")
        locked = list(free.select_for_update(no_key=True, skip_locked=True))
        for row in locked:
            row.decay_score = scores[row.id]
        memories.bulk_update(locked, ["decay_score"])


def _standing(row: Memory) -> DecayInput:
    return DecayInput(
        type=MemoryType(row.type),
        importance=row.importance,
        fresh_at=max(row.said_at, row.created_at),
        tags=row.tags,
        expires_at=row.expires_at,
        last_accessed=row.last_accessed,
        access_count=row.access_count,
    )


AT_ONCE = 500  # memories per transaction, so that none holds rows for long
AN_HOUR = timedelta(hours=1)
ENDED = "ended"  # the verb of history and ledger


def close_ended_memories(*, most: timedelta = AN_HOUR) -> int:
    """Close active memories of all end users whose `valid_until` has passed; return how many were closed.

    A memory that is changed at the same time, and what is left when the time is up, is left for the next run.
    """
    now, started = timezone.now(), monotonic()
    closed = 0
    for project_id, user in owners_of(Memory.objects.ended(now)):
        with tenant_scope(project_id=project_id, end_user_id=user):
            closed += _close_of(project_id=project_id, end_user_id=user, now=now)
        if monotonic() - started >= most.total_seconds():
            break
    return closed


def _close_of(*, project_id: UUID, end_user_id: UUID, now: datetime) -> int:
    rows = Memory.objects.for_end_user(end_user_id).ended(now).only("id", "version").order_by("id")
    context = WriteContext(project_id=project_id, end_user_id=end_user_id, actor=ACTOR)
    several, closed = iter(rows.iterator(chunk_size=AT_ONCE)), 0
    while batch := list(islice(several, AT_ONCE)):
        closed += _close(batch, context)
    return closed


def _close(rows: Sequence[Memory], context: WriteContext) -> int:
    try:
        apply_plan(plan=WritePlan(operations=tuple(_closings(rows))), context=context)
    except StalePlan as stale:
        log.info("closing put off", end_user=str(context.end_user_id), reason=str(stale))
        return 0
    return len(rows)


def _closings(rows: Sequence[Memory]) -> Iterator[ReviseMemory]:
    for row in rows:
        yield ReviseMemory(
            memory_id=row.id, expected_version=row.version, verb=ENDED, changes={"status": Status.SUPERSEDED}
        )
