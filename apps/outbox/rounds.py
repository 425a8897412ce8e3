"""Rounds of recurring jobs: one pass over everything, in parts of limited duration. All times are the database's."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models.functions import Now

from apps.outbox.models import JobRound

SAVED_EVERY = 1.0  # seconds between two positions that are stored
SPARE = timedelta(minutes=5)  # a round whose process has died is held for so long beyond its part

Position = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """Up to where a job is done after a piece of it, and how many rows that piece has changed."""

    position: Position
    changed: int


def begin_round(*, job: str) -> None:
    """Begin a new round, unless the last one is not finished."""
    JobRound.objects.bulk_create([JobRound(job=job, started_at=Now())], ignore_conflicts=True)
    finished = JobRound.objects.filter(job=job, finished_at__isnull=False)
    finished.update(position={}, changed=0, started_at=Now(), finished_at=None)


def continue_round(*, job: str, most: timedelta, steps: Callable[[Position], Iterator[Step]]) -> int:
    """Do a part of an unfinished round; return how many rows it changed, 0 if there is none or another process has it.

    `steps` does the work that follows a position, in small pieces; the first position is empty.
    """
    unfinished = JobRound.objects.filter(job=job, finished_at=None)
    token, found = unfinished.lease(seconds=(most + SPARE).total_seconds())
    if not found:
        return 0
    rows = JobRound.objects.filter(job=job)
    position, before = rows.values_list("position", "changed").get()
    changed, started = 0, time.monotonic()
    last_saved = started
    for step in steps(position):
        position, changed = step.position, changed + step.changed
        now = time.monotonic()
        if now - started >= most.total_seconds():
            rows.release(token=token, position=position, changed=before + changed)
            return changed
        if now - last_saved >= SAVED_EVERY:
            rows.filter(lease_token=token).update(position=position, changed=before + changed)
            last_saved = now
    rows.release(token=token, position=position, changed=before + changed, finished_at=Now())
    return changed
