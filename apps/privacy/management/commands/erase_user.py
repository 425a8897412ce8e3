"""Erase an end user."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.errors import NotFound
from apps.privacy.users import erase_user
from apps.tenants.command_arguments import answer_to, project_named


class Command(BaseCommand):
    help = "Delete everything that an end user said and all that was derived from it, and print the receipt."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("user", help="user_id of the end user")
        parser.add_argument("--yes", action="store_true", help="erase without asking")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        if not options["yes"] and answer_to(f"Erase {options['user']!r} for good? Type yes: ") != "yes":
            raise CommandError("nothing was erased: answer yes, or call it with --yes")
        try:
            erasure = erase_user(project_id=project.id, user_id=options["user"], wait=timedelta.max)
        except NotFound as unknown:
            raise CommandError(str(unknown)) from unknown
        for table, rows in erasure.counts.items():
            self.stdout.write(f"{rows:>9,} {table}")
        self.stdout.write(f"receipt {erasure.shown_id}")
