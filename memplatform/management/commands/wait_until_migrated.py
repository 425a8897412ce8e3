"""Wait until the database has all migrations of this version: exit with 0 then, with 1 when the time is up."""

import time
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

POLL_SECONDS = 2.0


class Command(BaseCommand):
    """Wait for another process that migrates, without the rights to do it."""

    help = __doc__ or ""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the time to wait."""
        parser.add_argument("--seconds", type=float, default=600.0, help="how long to wait")

    def handle(self, *args: Any, seconds: float, **options: Any) -> None:
        """Ask the database until it is migrated. Raises CommandError."""
        deadline = time.monotonic() + seconds
        while not _is_migrated():
            if time.monotonic() >= deadline:
                raise CommandError("the database is not migrated: run manage.py migrate")
            time.sleep(POLL_SECONDS)  # there is no notification


def _is_migrated() -> bool:
    try:
        executor = MigrationExecutor(connection)
        return not executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError:
        connection.close()
        return False
