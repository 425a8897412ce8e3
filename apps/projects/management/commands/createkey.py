"""Create an API key."""

from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from apps.common.errors import Refused
from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.tenants.command_arguments import project_named
from apps.tenants.scope import tenant_scope


def _days(text: str) -> int:
    """Read a number of days, up to a hundred years."""
    days = int(text)
    if not 1 <= days <= 36_500:
        raise ValueError
    return days


class Command(BaseCommand):
    requires_system_checks: list[str] = []  # those of URLs load the API and the console, and take half of the time
    help = "Create an API key of a project and print it. It can't be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")
        parser.add_argument("--name", default="command line")
        parser.add_argument(
            "--scope",
            action="append",
            choices=[scope.value for scope in Scope],
            help="may be given more than once; read and write by default",
        )
        parser.add_argument("--days", type=_days, help="days until the key expires; never by default")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        scopes = [Scope(scope) for scope in options["scope"] or (Scope.READ, Scope.WRITE)]
        expires_at = None if options["days"] is None else timezone.now() + timedelta(days=options["days"])
        try:
            with tenant_scope(project_id=project.id):
                created = create_key(project_id=project.id, name=options["name"], scopes=scopes, expires_at=expires_at)
        except Refused as error:
            raise CommandError(str(error)) from error
        self.stdout.write(created.text)
