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

from apps.actions.management.project_argument import project_named
from apps.intake.formats import READERS
from apps.intake.formats.parsed_turn import ParsedTurn, Source
from apps.intake.ingest import BadFile, Ingested, all_valid, ingest
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.tenants.scope import tenant_scope
from apps.worker.drain import drain
from apps.worker.shutdown import STOPPING

MOST_SHOWN = 20  # invalid places of a file
SLICE_SECONDS = 1.0
OPEN = (WorkState.PENDING, WorkState.RUNNING)


class Command(BaseCommand):
    help = "Import a file of conversations as POST /v1/turns would; a repeated run continues where it stopped."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", required=True, choices=sorted(READERS))
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--user", default="", metavar="ID", help="user_id where the file names none")
        parser.add_argument("--wait", action="store_true", help="process the imported turns and exit when done")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        turns = self._read(options["file"], options["format"], options["user"])
        with _progress_bar("turns", total=len(turns)) as progress:
            done = ingest(project_id=project.pk, turns=turns, progress=progress)
        self.stdout.write(_summary(done))
        if options["wait"]:
            with tenant_scope(project_id=project.pk):
                _work(done.end_users)

    def _read(self, file: Path, name: str, user_id: str) -> tuple[ParsedTurn, ...]:
        source = Source(name=file.stem, user_id=user_id, now=timezone.now())
        try:
            return all_valid(READERS[name](file.read_bytes(), source=source))
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        except BadFile as bad:
            for place in bad.places[:MOST_SHOWN]:
                self.stderr.write(f"{file}: {place.at}: {place.message}")
            raise CommandError(f"{bad}; nothing was ingested") from bad


def _summary(done: Ingested) -> str:
    return f"{done.turns} turns in {done.requests} requests, {done.known} known already"


def _work(end_users: Collection[UUID]) -> None:
    """Drain, next to a cluster or without one, until these end users have no open work."""
    total = _count_open_work(end_users)
    with _progress_bar("work", total=total) as progress:
        while (left := _count_open_work(end_users)) and not STOPPING.is_set():
            if not drain(most_seconds=SLICE_SECONDS):
                time.sleep(SLICE_SECONDS / 5)  # other workers hold it, or it waits for its next attempt
            progress(total - left)


def _count_open_work(end_users: Collection[UUID]) -> int:
    return OutboxRow.objects.filter(end_user_id__in=end_users, state__in=OPEN).count()


@contextmanager
def _progress_bar(name: str, *, total: int) -> Iterator[Callable[[int], None]]:
    """Show a progress bar; yield a function that sets how much is done."""
    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=total)
        yield lambda done: bar.update(task, completed=done)
