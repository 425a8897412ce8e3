"""Ingest a file of conversations."""

import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone
from rich.console import Console
from rich.progress import Progress

from apps.intake.formats import READERS
from apps.intake.formats.parsed_turn import ParsedTurn, Source
from apps.intake.ingest import BadFile, Ingested, ingest, sound
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.tenants.models import Project
from apps.worker.drain import drain
from apps.worker.shutdown import STOPPING

MOST_SHOWN = 20  # bad places
SLICE_SECONDS = 1.0
OPEN = (WorkState.PENDING, WorkState.RUNNING)


class Command(BaseCommand):
    help = "Take in a file of conversations as POST /v1/turns would; run again, it takes up where it stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", required=True, choices=sorted(READERS))
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--user", default="", metavar="ID", help="user_id for what the file names none for")
        parser.add_argument("--wait", action="store_true", help="help with the work and end when it is done")

    def handle(self, *args: Any, **options: Any) -> None:
        project = Project.objects.filter(slug=options["project"]).first()
        if project is None:
            raise CommandError(f"there is no project {options['project']!r}; see createproject")
        said = self._read(options["file"], options["format"], options["user"])
        with _bar("turns", total=len(said)) as told:
            done = ingest(project_id=project.pk, said=said, progress=told)
        self.stdout.write(_summary(done))
        if options["wait"]:
            _work(done.end_users)

    def _read(self, file: Path, name: str, user_id: str) -> tuple[ParsedTurn, ...]:
        source = Source(name=file.stem, user_id=user_id, now=timezone.now())
        try:
            return sound(READERS[name](file.read_bytes(), source=source))
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        except BadFile as bad:
            for place in bad.places[:MOST_SHOWN]:
                self.stderr.write(f"{file}: {place.at}: {place.message}")
            raise CommandError(f"{bad}; nothing was ingested") from bad


def _summary(done: Ingested) -> str:
    return f"{done.turns} turns in {done.requests} requests, {done.known} known already"


def _work(end_users: Collection[UUID]) -> None:
    """Drain beside a cluster, or without one, until nothing is owed for these end users."""
    total = _owed(end_users)
    with _bar("work", total=total) as told:
        while (left := _owed(end_users)) and not STOPPING.is_set():
            if not drain(most_seconds=SLICE_SECONDS):
                time.sleep(SLICE_SECONDS / 5)  # others hold it, or it waits for its next attempt
            told(total - left)


def _owed(end_users: Collection[UUID]) -> int:
    return OutboxRow.objects.filter(end_user_id__in=end_users, state__in=OPEN).count()


@contextmanager
def _bar(name: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar, and tell how to move it."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(name, total=total)
        yield lambda done: progress.update(task, completed=done)
