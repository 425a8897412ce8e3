"""Archive memories that have expired or decayed, and store the decay scores; archived memories can be restored."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone

from apps.actions.memories.decay import DecayInput, decay_score, is_past
from apps.actions.memories.owners import owners_of
from apps.memories.models import Memory
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.outbox.rounds import Position, Step, begin_round, continue_round
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import DecayPolicy
from apps.pipeline.core.ports import StalePlan
from apps.tenants.scope import tenant_scope
from apps.traces.policies import active_policy

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
