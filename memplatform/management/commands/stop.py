"""Stop everything that this installation has started, the embedded database too; the data stays."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from memplatform import embedded, processes


class Command(BaseCommand):
    help = __doc__ or ""
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--delete", action="store_true", help="also delete the embedded database")

    def handle(self, *args: Any, **options: Any) -> None:
        for record in processes.recorded():
            processes.end(record)
        try:
            (embedded.remove if options["delete"] else embedded.down)(settings.EMBEDDED_DIR)
        except embedded.EmbeddedError as error:
            raise CommandError(f"embedded PostgreSQL: {error}") from error
        self.stdout.write("stopped")
