"""Redact what a project has stored."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.privacy.redact_history import redact_history
from apps.tenants.command_arguments import project_named


class Command(BaseCommand):
    help = "Redact what a project has stored by its policy, in every table; counts only without --apply."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("--apply", action="store_true", help="write; can be repeated after an interruption")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        done = "redacted" if options["apply"] else "to redact"
        redact_history(
            project_id=project.id,
            is_dry_run=not options["apply"],
            progress=lambda table, rows: self.stdout.write(f"{table}: {rows} rows {done}"),
        )
