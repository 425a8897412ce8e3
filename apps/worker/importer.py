"""Check and run imports in a process of their own: the imports of several projects take turns of a moment each.

The tasks of django-q2, such as daily jobs, never wait for a file. An open import keeps its file where it is between two
turns, so that a turn costs no reading from the start.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import cast
from uuid import UUID

import structlog
from django.db import DatabaseError, connection

from apps.actions.imports.check_import import checking
from apps.actions.imports.due_imports import DueImport, due_imports
from apps.intake.run_import import running
from apps.worker.shutdown import STOPPING, StopSignal

log = structlog.get_logger(__name__)

SLICE_SECONDS = 1.0  # of one turn of an import; a chunk that takes longer ends it late
POLL_SECONDS = 0.5  # between two queries for imports
OUTAGE_SECONDS = 0.5  # between two attempts to reach the database while it is down
MOST_OPEN = 8  # imports at once, each of another project: each may hold a conversation in memory


@dataclass
class OpenImport:
    """An import that this process works on, in a context of its own, which holds its scope and its actor."""

    project_id: UUID
    steps: Generator[float | None, None, None]
    context: Context = field(default_factory=copy_context)
    rests_until: float = 0.0

    def advance(self, *, seconds: float) -> bool:
        """Do one step, and more for so long; return False once it is over."""
        until = time.monotonic() + seconds
        while True:
            try:
                rest = self.context.run(next, self.steps)
            except StopIteration:
                return False
            if rest:
                self.rests_until = time.monotonic() + rest
            if rest or time.monotonic() >= until:
                return True

    def close(self) -> None:
        """Give it back."""
        self.context.run(self.steps.close)


@dataclass
class Importer:
    """One process that imports: at most one import of a project at a time, turn by turn."""

    stop: StopSignal
    slice_seconds: float = SLICE_SECONDS
    find: Callable[[], list[DueImport]] = due_imports
    is_open: dict[UUID, OpenImport] = field(default_factory=dict)
    last_turns: dict[UUID, float] = field(default_factory=dict)  # by project, when its last import was closed

    def run(self, *, seconds: float) -> None:
        """Import for so long, then give back what is open, whatever error ends it."""
        try:
            self._import_until(time.monotonic() + seconds)
        finally:
            for import_id in list(self.is_open):
                self._close(import_id)

    def _import_until(self, until: float) -> None:
        polled = float("-inf")
        while not self.stop.is_set() and time.monotonic() < until:
            try:
                if time.monotonic() - polled >= POLL_SECONDS:
                    self.open_due()
                    polled = time.monotonic()
                if not self.take_turns():
                    connection.close()
                    time.sleep(POLL_SECONDS)  # new imports are found by polling
            except DatabaseError as error:
                log.warning("database unavailable", error=str(error))
                connection.close()
                time.sleep(OUTAGE_SECONDS)  # there is no notification when it is back

    def open_due(self) -> None:
        """Open imports of projects that have none open, first of those whose last turn is the longest ago."""
        if len(self.is_open) >= MOST_OPEN:
            return
        busy = {each.project_id for each in self.is_open.values()}
        for due in sorted(self.find(), key=lambda each: self.last_turns.get(each.project_id, 0.0)):
            if due.project_id not in busy and len(self.is_open) < MOST_OPEN:
                busy.add(due.project_id)
                self.is_open[due.id] = OpenImport(due.project_id, _steps(due))

    def take_turns(self) -> bool:
        """Let each open import take its turn; return False if none had something to do."""
        has_worked = False
        for import_id, each in list(self.is_open.items()):
            if self.stop.is_set():
                break
            if each.rests_until > time.monotonic():
                continue
            has_worked = True
            goes_on = False
            try:
                goes_on = each.advance(seconds=self.slice_seconds)
            finally:
                if not goes_on:
                    del self.is_open[import_id]
                    self.last_turns[each.project_id] = time.monotonic()
        return has_worked

    def _close(self, import_id: UUID) -> None:
        try:
            self.is_open.pop(import_id).close()
        except Exception as error:  # noqa: BLE001  (the others are given back all the same; its lease ends by itself)
            log.warning("import not given back", file_import=str(import_id), error=type(error).__name__)


def _steps(due: DueImport) -> Generator[float | None, None, None]:
    steps: Iterator[float | None] = checking(import_id=due.id) if due.is_check else running(import_id=due.id)
    return cast(Generator[float | None, None, None], steps)


def import_files(*, seconds: float) -> None:
    """Check and run imports for so long, or until the process is asked to stop."""
    Importer(stop=STOPPING).run(seconds=seconds)
