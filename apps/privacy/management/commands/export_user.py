"""Export an end user."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.common.errors import NotFound
from apps.privacy.users import export_user
from apps.tenants.command_arguments import project_named


class Command(BaseCommand):
    help = "Print everything that is stored about an end user as lines of JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("user", help="user_id of the end user")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        try:
            for line in export_user(project_id=project.id, user_id=options["user"]):
                self.stdout.write(line.decode(), ending="")
        except NotFound as unknown:
            raise CommandError(str(unknown)) from unknown
