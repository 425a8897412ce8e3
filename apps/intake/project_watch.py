"""Watch the limits of projects beside the requests that they concern.

What a limit is compared with is counted over all end users of a project. That takes a statement that grows with the
project, and on a distributed database one that touches every server, so no request waits for it.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import DatabaseError, connection

from apps.tenants.scope import tenant_scope

State = TypeVar("State")
log = structlog.get_logger(__name__)

MOST_PROJECTS = 10_000  # of which something is known or asked; further ones count as within their limits
FORGOTTEN_AFTER_SECONDS = 60.0  # without a question


@dataclass(slots=True)
class ProjectWatch(Generic[State]):
    """What a process knows of the limits of projects, counted at most once in `every` seconds for each.

    `within` is the state of a project within its limits, and of one that was not counted yet. So a limit can be
    exceeded by what each process accepts in that time and while it counts. A project beyond its limits is counted on
    until it is within them again, or nobody has asked for a minute. With COUNT_LIMITS_ASIDE off, each question counts.
    """

    count: Callable[[UUID], State]  # runs in the scope of the project; may raise DatabaseError
    within: State
    every: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: dict[UUID, float] = field(default_factory=dict)  # when last, of projects that are to be counted
    beyond: dict[UUID, State] = field(default_factory=dict)
    counting: threading.Thread | None = None

    def state_of(self, project_id: UUID) -> State:
        """Return what was last counted of a project."""
        if not settings.COUNT_LIMITS_ASIDE:
            return self.count(project_id)
        with self.lock:
            if project_id in self.asked or len(self.asked) < MOST_PROJECTS:
                self.asked[project_id] = time.monotonic()
            if self.counting is None or not self.counting.is_alive():  # as in a forked process
                self.counting = threading.Thread(target=self._count_on, name="limits", daemon=True)
                self.counting.start()
            return self.beyond.get(project_id, self.within)

    def _count_on(self) -> None:
        """Count what was asked for, until nobody asks."""
        while projects := self._due():
            try:
                for each in projects:
                    self.note(each)
            except DatabaseError as error:
                log.warning("limits not counted", error=str(error))
            finally:
                connection.close()
            time.sleep(self.every)

    def _due(self) -> list[UUID]:
        """Return the projects to count now; those beyond their limits are due the next time as well."""
        forgotten = time.monotonic() - FORGOTTEN_AFTER_SECONDS
        with self.lock:
            due = [each for each, at in self.asked.items() if at > forgotten]
            self.beyond = {each: state for each, state in self.beyond.items() if each in due}
            self.asked = {each: self.asked[each] for each in self.beyond}
            if not due:
                self.counting = None
        return due

    def note(self, project_id: UUID) -> None:
        """Count one project. Raises DatabaseError."""
        with tenant_scope(project_id=project_id):
            state = self.count(project_id)
        with self.lock:
            if state == self.within:
                self.beyond.pop(project_id, None)
            else:
                self.beyond[project_id] = state
                self.asked.setdefault(project_id, time.monotonic())
