"""Close memories whose validity has ended, so that their status says what search and context apply already."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import islice
from time import monotonic
from uuid import UUID

import structlog
from django.utils import timezone

from apps.actions.memories.owners import owners_of
from apps.memories.models import Memory
from apps.memories.writing.plan_writer import apply_plan
from apps.memories.writing.write_context import WriteContext
from apps.pipeline.core.enums import Status
from apps.pipeline.core.operations import ReviseMemory
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.ports import StalePlan
from apps.tenants.scope import tenant_scope

log = structlog.get_logger(__name__)

AT_ONCE = 500  # memories per transaction, so that none holds rows for long
ACTOR = "system"
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
