"""Export the ledger of a project."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.memories.ledger.chain import export_ledger
from apps.memories.models import LedgerEntry
from apps.tenants.command_arguments import project_named


class Command(BaseCommand):
    help = "Print the ledger of a project as lines of JSON, oldest entry first."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", help="the project's slug")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_named(options["project"])
        entries = LedgerEntry.objects.filter(project=project)
        for line in export_ledger(project_id=project.id, entries=entries):
            self.stdout.write(line.decode(), ending="")
