"""Distribute the database over several servers with Citus."""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError, connection
from django.db.migrations.executor import MigrationExecutor
from psycopg import errors

from memplatform.database import as_owner
from memplatform.distribution.distribute import SHARDS, distribute, plan_of_database
from memplatform.distribution.layout import Place
from memplatform.distribution.plan import CannotDistribute, Plan
from memplatform.management.commands.migrate import one_at_a_time


class Command(BaseCommand):
    help = "Distribute the tables over the servers of a Citus cluster, by end user; tables that are need nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--plan", action="store_true", help="only show the statements, each with its reason")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--shards", type=int, default=SHARDS, help="parts of a split table (%(default)s)")

    def handle(self, *args: Any, **options: Any) -> None:
        """Show what would be done, ask, and do it in one transaction."""
        with as_owner():
            executor = MigrationExecutor(connection)
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                raise CommandError("migrations are not applied: run manage.py migrate first")
            try:
                plan, places = plan_of_database(shards=options["shards"])
                self._show(plan, places, in_full=options["plan"])
                if plan.steps and not options["plan"] and (options["yes"] or self._is_wanted()):
                    self._distribute(plan)
            except CannotDistribute as error:
                raise CommandError(str(error)) from error

    def _show(self, plan: Plan, places: dict[str, Place], *, in_full: bool) -> None:
        if not plan.steps:
            self.stdout.write("nothing is left to do: every table is in its place")
            return
        counts = Counter(place.placement.value for place in places.values())
        self.stdout.write(", ".join(f"{number} tables {name}" for name, number in sorted(counts.items())))
        if in_full:
            for name, place in sorted(places.items()):
                by = f" by {place.column}" if place.column else ""
                self.stdout.write(f"  {name}: {place.placement.value}{by} ({place.reason})")
            for step in plan.steps:
                self.stdout.write(f"{step.statement};  -- {step.reason}")
        for name, reason in sorted(plan.unchecked.items()):
            self.stdout.write(f"no longer checked by the database: {name} ({reason})")

    def _is_wanted(self) -> bool:
        question = "Server and workers must be stopped, and a backup be at hand. Distribute the database? [y/N] "
        return input(question).strip().lower() == "y"

    def _distribute(self, plan: Plan) -> None:
        try:
            with one_at_a_time():
                distribute(plan=plan)
        except OperationalError as error:
            if isinstance(error.__cause__, errors.LockNotAvailable):
                raise CommandError("a table is in use: stop the server and the workers; nothing has changed") from error
            raise
        connection.close()
        self.stdout.write("the database is distributed")
