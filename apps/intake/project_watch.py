"""Watch the limits of projects beside the requests that they concern.

What a limit is compared with is counted over all end users of a project. That takes a statement that grows with the
project, so of the requests of a busy project hardly one waits for it.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from uuid import UUID

import structlog
from django.conf import settings
from django.db import Error, connection

from apps.tenants.scope import tenant_scope

State = TypeVar("State")
log = structlog.get_logger(__name__)


@dataclass(slots=True)
class ProjectWatch(Generic[State]):
    """What a process knows of the limits of projects.

    The first question about a project counts. As long as there are further ones, a thread counts them again one after
    the other and rests for `every` seconds, so a limit can be exceeded by what each process accepts in that time. With
    COUNT_LIMITS_ASIDE off, each question counts.
    """

    count: Callable[[UUID], State]  # runs in the scope of the project; may raise django.db.Error
    every: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    asked: set[UUID] = field(default_factory=set)  # since the thread has counted last
    counted: dict[UUID, State] = field(default_factory=dict)
    counting: threading.Thread | None = None

    def state_of(self, project_id: UUID) -> State:
        """Return what was last counted of a project. Raises django.db.Error if it has to be counted first."""
        if not settings.COUNT_LIMITS_ASIDE:
            return self.count(project_id)
        with self.lock:
            self.asked.add(project_id)
            is_counted = project_id in self.counted
            if is_counted:
                state = self.counted[project_id]
            if self.counting is None or not self.counting.is_alive():  # as in a forked process
                self.counting = threading.Thread(target=self._count_on, name="limits", daemon=True)
                self.counting.start()
        return state if is_counted else self.note(project_id)

    def note(self, project_id: UUID) -> State:
        """Count one project. Raises django.db.Error."""
        with tenant_scope(project_id=project_id):
            state = self.count(project_id)
        with self.lock:
            self.counted[project_id] = state
        return state

    def _count_on(self) -> None:
        """Count again what is asked for, until nobody asks."""
        while True:
            time.sleep(self.every)  # the pace of the counts, in a thread that no request waits for
            projects = self._due()
            if not projects:
                return
            for each in projects:
                self._count_again(each)
            connection.close()

    def _count_again(self, project_id: UUID) -> None:
        """Count a project; where it fails, the next question counts."""
        try:
            self.note(project_id)
        except Error as error:
            log.warning("limits not counted", project=str(project_id), error=str(error))
            with self.lock:
                self.counted.pop(project_id, None)

    def _due(self) -> set[UUID]:
        """Return the projects that somebody has asked for since the last time, and forget the others."""
        with self.lock:
            due, self.asked = self.asked, set()
            self.counted = {each: state for each, state in self.counted.items() if each in due}
            if not due:
                self.counting = None
        return due
