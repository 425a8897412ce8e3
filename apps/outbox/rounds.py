"""Rounds of recurring jobs: one pass over everything, in parts of limited duration. All times are the database's."""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import msgspec

from apps.outbox.fetch import fetch

SAVED_EVERY = 1.0  # seconds between two positions that are stored
SPARE = timedelta(minutes=5)  # a round whose process has died is held for so long beyond its part

Position = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """Up to where a job is done after a piece of it, and how many rows that piece has changed."""

    position: Position
    changed: int


_BEGIN = """
insert into outbox_jobround as known (job, position, changed, started_at, held_until)
values (%(job)s, '{}', 0, now(), now())
on conflict (job) do update set position = '{}', changed = 0, started_at = now(), held_until = now(), finished_at = null
    where known.finished_at is not null
returning 1
"""
_CLAIM = """
update outbox_jobround set held_until = now() + %(seconds)s * interval '1 second'
where job = %(job)s and finished_at is null and held_until <= now()
returning position, changed
"""
_SAVE = """
update outbox_jobround set position = %(position)s, changed = %(changed)s,
    held_until = case when %(is_over)s then now() else held_until end,
    finished_at = case when %(is_finished)s then now() end
where job = %(job)s
returning 1
"""


def begin_round(*, job: str) -> None:
    """Begin a new round, unless the last one is not finished."""
    fetch(_BEGIN, {"job": job})


def continue_round(*, job: str, most: timedelta, steps: Callable[[Position], Iterator[Step]]) -> int:
    """Do a part of an unfinished round; return how many rows it changed, 0 if there is none or another process has it.

    `steps` does the work that follows a position, in small pieces; the first position is empty.
    """
    claimed = fetch(_CLAIM, {"job": job, "seconds": (most + SPARE).total_seconds()})
    if not claimed:
        return 0
    position, before = msgspec.json.decode(claimed[0][0]), claimed[0][1]
    changed, started = 0, time.monotonic()
    last_saved = started
    for step in steps(position):
        position, changed = step.position, changed + step.changed
        now = time.monotonic()
        if now - started >= most.total_seconds():
            _save(job, position, before + changed, is_over=True)
            return changed
        if now - last_saved >= SAVED_EVERY:
            _save(job, position, before + changed)
            last_saved = now
    _save(job, position, before + changed, is_over=True, is_finished=True)
    return changed


def _save(job: str, position: Position, changed: int, *, is_over: bool = False, is_finished: bool = False) -> None:
    values = {
        "job": job,
        "position": msgspec.json.encode(position).decode(),
        "changed": changed,
        "is_over": is_over,
        "is_finished": is_finished,
    }
    fetch(_SAVE, values)
