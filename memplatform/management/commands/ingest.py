"""Import a file of conversations or memories."""

import time
from argparse import ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress

from apps.common.errors import Refused
from apps.imports.enums import ImportFormat, ImportState
from apps.imports.models import FileImport
from apps.imports.services import start_import, upload_import
from apps.intake.run_import import run_import
from apps.memories.ledger.actor import COMMAND, acting_as
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import WorkState
from apps.tenants.command_arguments import project_named
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.worker.shutdown import STOPPING
from apps.worker.work import work

MOST_SHOWN = 20  # problems of a file
SLICE_SECONDS = 1.0
WORK_SECONDS = 30.0  # between two parts of an import, which each read the file from its start
OPEN = (WorkState.PENDING, WorkState.RUNNING)


class Command(BaseCommand):
    help = (
        "Import a file as POST /v1/imports would. What cannot be imported is told, and the rest is imported; "
        "a repeated run imports what is new."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", choices=[each.value for each in ImportFormat], help="without it: recognised")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--user", default="", metavar="ID", help="user_id where the file names none")
        parser.add_argument(
            "--user-of", action="append", default=[], type=_named_user, metavar="NAME=ID", help="user_id of a name"
        )
        parser.add_argument("--dry-run", action="store_true", help="count what the file would bring, and stop")
        parser.add_argument("--wait", action="store_true", help="process the imported turns and exit when done")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        with tenant_scope(project_id=project.pk), acting_as(COMMAND):
            try:
                self._ingest(project, options)
            except Refused as refused:
                raise CommandError(str(refused)) from refused

    def _ingest(self, project: Project, options: dict[str, Any]) -> None:
        held = self._checked(project, options)
        for problem in held.problems[:MOST_SHOWN]:
            self.stderr.write(f"{options['file']}: {problem['at']}: {problem['reason']}")
        if options["dry_run"]:
            self.stdout.write("\n".join(f"{name}: {value}" for name, value in held.counts.items() if value))
            return
        users = list(held.users)  # until the file is deleted
        start_import(project_id=project.pk, import_id=held.pk)
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("chunks", total=held.chunks)
            _run(held, works=options["wait"], on_progress=lambda done: bar.update(task, completed=done))
        if held.state != ImportState.DONE:
            raise CommandError(f"the import is {held.state}: {held.error}")
        self.stdout.write(_summary(held))
        if options["wait"]:
            _work(users)

    def _checked(self, project: Project, options: dict[str, Any]) -> FileImport:
        file: Path = options["file"]
        request = FileImport(
            project_id=project.pk,
            file_name=file.name,
            format=options["format"] or "",
            user_id=options["user"],
            users_by_name=dict(options["user_of"]),
        )
        try:
            held = upload_import(request=request, content=file.read_bytes())
        except OSError as error:
            raise CommandError(f"{file}: {error.strerror}") from error
        _run(held)
        if held.state == ImportState.FAILED:
            held.delete()
            raise CommandError(held.error)
        return held


def _run(held: FileImport, *, works: bool = False, on_progress: Callable[[int], None] = lambda _: None) -> None:
    """Check or run an import until it is over, here or by a worker; where it waits for the queue, work if wanted."""
    while not STOPPING.is_set():
        run_import(import_id=held.pk, stop=STOPPING.is_set, on_progress=on_progress)
        held.refresh_from_db()
        if held.is_over:
            return
        if not (works and held.wait_reason and work(seconds=WORK_SECONDS)):
            time.sleep(SLICE_SECONDS)  # another process has it, whose lease ends if it dies, or a quota has no room
    raise CommandError(f"the import is {held.state}: {held.wait_reason or 'workers go on with it'}")


def _named_user(text: str) -> tuple[str, str]:
    name, _, user_id = text.partition("=")
    if not name or not user_id:
        raise ArgumentTypeError("must be NAME=ID")
    return name, user_id


def _summary(held: FileImport) -> str:
    done = {name: held.done.get(name, 0) for name in ("turns", "requests", "stored", "merged", "refused", "known")}
    if held.done.get("turns") or not held.counts.get("memories"):
        return f"{done['turns']} turns in {done['requests']} requests, {done['known']} known already"
    told = f"{done['stored']} memories, {done['merged']} merged into known ones, {done['known']} known already"
    return f"{told}, {done['refused']} refused" if done["refused"] else told


def _work(end_users: list[UUID]) -> None:
    """Drain, next to a cluster or without one, until these end users have no open work."""
    rows = OutboxRow.objects.filter(end_user_id__in=end_users, state__in=OPEN)
    while rows.exists() and not STOPPING.is_set():
        if not work(seconds=SLICE_SECONDS):
            time.sleep(SLICE_SECONDS / 5)  # other workers hold it, or it waits for its next attempt
