"""Decide which of the ready end users are leased next. Pure: no database.

Round robin over projects: the first ready user of each project comes before the second of any, and the leases that a
project holds already count as its first turns, so that a project with a large backlog does not delay the others.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True)
class ReadyQueue:
    """The ready users of one project that wait for the same paused model, or with an empty name for none.

    `held` is how many leases of the project are held. With `is_single_try` one user tries whether the model answers
    again. Users that are ready by `ready_by` can be leased, the one that has waited longest or the newest first.
    """

    project_id: UUID
    waits_for: str
    held: int
    is_single_try: bool
    is_newest_first: bool
    ready_by: datetime


@dataclass(frozen=True, slots=True)
class ReadyUser:
    """An end user that can be leased, and since when."""

    end_user_id: UUID
    ready_at: datetime
    queue: ReadyQueue


def in_rotation(ready: Iterable[ReadyUser], *, limit: int) -> list[ReadyUser]:
    """Return the users to be leased next, at most `limit`: projects in turn, within them the longest wait first."""
    taken: Counter[UUID] = Counter()
    turns = []
    for each in sorted(ready, key=lambda user: user.ready_at):
        project_id = each.queue.project_id
        taken[project_id] += 1
        turns.append((each.queue.held + taken[project_id], each))
    turns.sort(key=lambda turn: turn[0])  # stable: equal turns stay in the order of their waits
    return [each for _, each in turns[:limit]]
