"""Work under a lease: take the next rows, then mark them as done, failed or postponed. All times are the database's.

Locks are taken in the order memories, lease, outbox rows. A worker therefore writes the effects of its work before it
marks the work as done.
"""

import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import accumulate, takewhile
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db import transaction
from django.db.models import F, OuterRef, Q, QuerySet
from django.db.models.functions import Greatest, Now

from apps.outbox.leased import LostLease
from apps.outbox.leases import OPEN, Lease, hold, release
from apps.outbox.models import MODEL_NAME_LENGTH, ModelPause, OutboxRow
from apps.pipeline.core.enums import RUNS, WorkKind, WorkState

LEAST_BACKOFF, MOST_BACKOFF = timedelta(seconds=1), timedelta(minutes=10)  # between two attempts
LEAST_WAIT, MOST_WAIT = timedelta(seconds=1), timedelta(minutes=5)  # for a database that fails
LOOK_AHEAD = 64  # open rows of one end user that are read at a time
ERROR_LENGTH = 4_000
_PAUSED_MODELS = ArraySubquery(ModelPause.objects.filter(project=OuterRef("project")).values("model"))
MOST_TURNS = 100  # in a batch: as many as one request may have


@dataclass(frozen=True, slots=True)
class NextWork:
    """One open outbox row; once taken, `attempts` includes the current attempt."""

    id: int
    kind: WorkKind
    subject_id: UUID
    session_id: UUID | None = None
    attempts: int = 0
    is_due: bool = True
    turn_count: int = 1
    paused: frozenset[str] = frozenset()  # models of the project that were paused when it was taken


def next_work(open_work: Sequence[NextWork], *, runs: int) -> list[NextWork]:
    """Choose the next rows to work on: pipeline runs first, in their order.

    1. A run that waits for its next attempt blocks later runs. One that waits for further turns of its session is done
       once a later run is due.
    2. A row that was attempted before is taken alone, so that no other row loses an attempt if it kills the worker.
    3. Up to `runs` new runs of one session are taken together, so that they can share a model call; no more than
       have MOST_TURNS turns together, so that other users don't wait for long.
    4. Index work has no order; all of it that is due and new is taken together.
    """
    pipeline_runs = [each for each in open_work if each.kind is WorkKind.RUN_PIPELINE]
    unblocked = list(takewhile(lambda each: each.is_due or not each.attempts, pipeline_runs))
    last_due = max((place for place, each in enumerate(unblocked) if each.is_due), default=-1)
    due_runs = unblocked[: last_due + 1]
    due_others = [each for each in open_work if each.kind is not WorkKind.RUN_PIPELINE and each.is_due]
    queue = due_runs or due_others
    if not queue or queue[0].attempts:
        return queue[:1]
    alike = (queue[0].kind, queue[0].session_id, 0)
    batch = list(takewhile(lambda each: (each.kind, each.session_id, each.attempts) == alike, queue))
    if not due_runs:
        return batch
    totals = accumulate(each.turn_count for each in batch[:runs])
    return [each for each, total in zip(batch[:runs], totals, strict=True) if each is batch[0] or total <= MOST_TURNS]


@dataclass(frozen=True, slots=True)
class Waiting:
    """The kinds of a leased user's work that wait for a paused model, and the model that the first of it waits for."""

    kinds: frozenset[WorkKind] = frozenset()
    model: str = ""

    def adding(self, *, kind: WorkKind, model: str) -> "Waiting":
        """Return what waits if work of this kind needs a paused model, too. All runs wait, to keep their order."""
        kinds = RUNS if kind in RUNS else frozenset({kind})
        return Waiting(kinds=self.kinds | kinds, model=self.model or model)


def take(
    *, lease: Lease, runs: int, open_work: list[NextWork] | None = None, waiting: Waiting = Waiting()
) -> list[NextWork]:
    """Take the leased user's next work and count the attempt on each row; release the lease if nothing is due.

    Returns up to `runs` pipeline runs of one session with up to MOST_TURNS turns, or all index work that is due.
    `open_work` keeps what was read and not taken yet, from one call to the next; it is read again where nothing of it
    is due. Raises LostLease.
    """
    left = [] if open_work is None else open_work
    while True:
        chosen = next_work(left, runs=runs)
        if not chosen:
            left[:] = _open_work(lease, waiting)
            chosen = next_work(left, runs=runs)
        if not chosen:
            break
        rows = OutboxRow.objects.filter(end_user=lease.end_user_id, pk__in=[each.id for each in chosen])
        with transaction.atomic():
            paused = frozenset(hold(lease, paused=_PAUSED_MODELS)["paused"])
            started = rows.filter(state__in=OPEN).update(state=WorkState.RUNNING, attempts=F("attempts") + 1)
            is_complete = started == len(chosen)
            if not is_complete:  # one of them was discarded in the meantime
                transaction.set_rollback(True)
        if is_complete:
            left[:] = [each for each in left if each not in chosen]
            return [replace(each, attempts=each.attempts + 1, paused=paused) for each in chosen]
        left.clear()
    if not release(lease=lease, waits_for=waiting.model):
        raise LostLease(f"the lease of end user {lease.end_user_id} is gone")
    return []


def _open_work(lease: Lease, waiting: Waiting) -> list[NextWork]:
    """Read the leased user's open work without a lock; starting it checks the lease again."""
    rows = OutboxRow.objects.filter(end_user=lease.end_user_id, state__in=OPEN).exclude(kind__in=waiting.kinds)
    is_run = Q(kind=WorkKind.RUN_PIPELINE)
    first = rows.annotate(now=Now(), is_run=is_run).order_by("-is_run", "id")[:LOOK_AHEAD]
    return [
        NextWork(
            row.pk,
            WorkKind(row.kind),
            row.subject_id,
            row.session_id,
            attempts=row.attempts,
            is_due=row.run_at <= row.now,
            turn_count=row.turn_count,
        )
        for row in first
    ]


def finish(*, lease: Lease, work: Sequence[NextWork]) -> None:
    """Mark rows as done and lock the lease, in the transaction that has written their effects.

    A row that was enqueued again while it ran stays pending. Raises LostLease when another worker holds the lease; the
    caller must then roll back.
    """
    hold(lease)
    _running(lease, work).update(state=WorkState.DONE, finished_at=Now(), last_error="")


def _running(lease: Lease, work: Sequence[NextWork]) -> QuerySet[OutboxRow]:
    rows = OutboxRow.objects.filter(end_user=lease.end_user_id, pk__in=[each.id for each in work])
    return rows.filter(state=WorkState.RUNNING)


def fail(*, lease: Lease, work: NextWork, error: str, most_attempts: int) -> OutboxRow | None:
    """Return a row to the queue for a later attempt, or mark it as dead after its last one; return it.

    Returns None if the row no longer belongs to this worker: it is done already, or another worker has taken over.
    """

    def judge(row: OutboxRow, now: datetime) -> None:
        row.run_at = now + backoff(attempts=work.attempts)
        row.waiting_since = None
        row.last_error = error[:ERROR_LENGTH]
        if row.attempts >= most_attempts:
            row.state, row.finished_at = WorkState.DEAD, now

    changed = _put_back(lease, [work], judge)
    return changed[0] if changed else None


def backoff(*, attempts: int) -> timedelta:
    """Return how long to wait after the n-th attempt: 1 s, 2 s, 4 s … to 10 minutes, each with up to 50 % jitter."""
    wait = min(LEAST_BACKOFF * 2 ** (max(attempts, 1) - 1), MOST_BACKOFF)
    return wait * _jitter()


def wait_for_model(
    *, lease: Lease, work: Sequence[NextWork], model: str, error: str, is_suspect: bool
) -> list[OutboxRow]:
    """Put rows back until a paused model answers again; return them, none for a lost lease.

    `is_suspect`: their own call timed out while the model answered others. The first such failure of a row costs
    nothing, each further one an attempt, so that a request that always times out is given up. A row is also given up
    when both the outage and the row's own wait have lasted for MODEL_OUTAGE_DAYS.
    """
    pause = ModelPause.objects.filter(project=lease.project_id, model=model[:MODEL_NAME_LENGTH]).first()

    def judge(row: OutboxRow, now: datetime) -> None:
        given_up = now - timedelta(days=settings.MODEL_OUTAGE_DAYS)
        is_too_long = pause is not None and pause.since <= given_up and row.run_at <= given_up
        if not (is_suspect and row.waiting_since is not None):
            row.attempts = max(row.attempts - 1, 0)
        _wait(row, now, error, is_too_long=is_too_long)
        if row.attempts >= settings.WORK_MAX_ATTEMPTS:
            row.state, row.finished_at = WorkState.DEAD, now

    return _put_back(lease, work, judge)


def wait_for_database(*, lease: Lease, work: Sequence[NextWork], error: str) -> list[OutboxRow]:
    """Put rows back that a failing database has interrupted, for 1 s, 2 s … to 5 minutes with up to 50 % jitter.

    The wait is as long as the row has waited already, so the time since its first failure doubles.
    """

    def judge(row: OutboxRow, now: datetime) -> None:
        waited = now - (row.waiting_since or now)
        row.run_at = now + max(LEAST_WAIT, min(waited, MOST_WAIT)) * _jitter()
        row.attempts = max(row.attempts - 1, 0)
        _wait(row, now, error, is_too_long=waited >= timedelta(days=settings.MODEL_OUTAGE_DAYS))

    return _put_back(lease, work, judge)


def put_back(*, lease: Lease, work: Sequence[NextWork] | None = None) -> None:
    """Put rows back as they were before they were taken, all that run without `work`.

    A lost lease leaves them to its new holder.
    """
    running = OutboxRow.objects.filter(end_user=lease.end_user_id, state=WorkState.RUNNING)
    rows = running if work is None else running.filter(pk__in=[each.id for each in work])
    with suppress(LostLease), transaction.atomic():
        hold(lease)
        rows.update(state=WorkState.PENDING, attempts=Greatest(F("attempts") - 1, 0))


def _wait(row: OutboxRow, now: datetime, error: str, *, is_too_long: bool) -> None:
    """Let a row wait, or give it up; the error says so."""
    row.waiting_since = row.waiting_since or now
    row.last_error = error[:ERROR_LENGTH]
    if is_too_long:
        row.state, row.finished_at = WorkState.DEAD, now
        row.last_error += f"; given up after {settings.MODEL_OUTAGE_DAYS:g} days"


def _put_back(lease: Lease, work: Sequence[NextWork], judge: Callable[[OutboxRow, datetime], None]) -> list[OutboxRow]:
    """Put running rows back and let `judge` change each of them; return them, none for a lost lease."""
    with transaction.atomic():
        try:
            now = hold(lease, now=Now())["now"]
        except LostLease:
            return []
        rows = {row.pk: row for row in _running(lease, work).select_for_update()}
        for row in rows.values():
            row.state = WorkState.PENDING
            judge(row, now)
            row.save(update_fields=["state", "attempts", "run_at", "waiting_since", "last_error", "finished_at"])
    return [rows[each.id] for each in work if each.id in rows]


def _jitter() -> float:
    return random.uniform(1.0, 1.5)  # noqa: S311  (jitter needs no cryptography)
