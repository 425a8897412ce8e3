"""Check a database that was restored from a dump."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memplatform.restored_database import counts, problems_of_database


class Command(BaseCommand):
    help = "Check a restored database: migrations, roles, row-level security, sequences and ledger; count its rows."

    def handle(self, *args: Any, **options: Any) -> None:
        problems = list(problems_of_database())
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write(f"ready: {counts()}")
