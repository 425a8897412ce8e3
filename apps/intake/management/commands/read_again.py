"""Read stored turns again with a model."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.errors import Refused
from apps.intake.read_again import read_again, sessions_to_read
from apps.tenants.command_arguments import project_named
from apps.tenants.scope import tenant_scope


class Command(BaseCommand):
    help = "Read the sessions again, with the model, whose messages were kept as notes without one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--project", required=True, help="the project's slug")
        parser.add_argument("--dry-run", action="store_true", help="only say what would be read")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        with tenant_scope(project_id=project.id):
            found = sessions_to_read(project.id)
            self.stdout.write(
                f"{found.messages} messages in {found.sessions} sessions are kept as notes; about {found.calls} calls"
            )
            if options["dry_run"]:
                return
            total = 0
            try:
                while enqueued := read_again(project.id):
                    total += enqueued
            except Refused as refused:
                raise CommandError(str(refused)) from refused
        self.stdout.write(f"{total} sessions will be read again")
