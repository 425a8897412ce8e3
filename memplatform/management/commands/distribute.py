"""Distribute the database over several servers with Citus."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from psycopg import sql

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE
from memplatform.database import as_owner
from memplatform.database_roles import ensure_login
from memplatform.distribution import CannotDistribute, Plan, has_citus, layout, plan_distribution, read_schema
from memplatform.management.commands.migrate import one_at_a_time
from memplatform.row_security import apply_row_security

# Tables refer to each other, so their parts are moved one after the other. Triggers that look at their row alone may
# run where the row is. Policies look up end users where the rows are. An erasure writes to many parts and to a copied
# table in one transaction, which takes one connection to a server.
_SETTINGS = f"""
set local citus.multi_shard_modify_mode = 'sequential';
set local citus.enable_unsafe_triggers = on;
set local citus.shard_replication_factor = 1;
alter role {APP_ROLE} in database {{database}} set citus.allow_nested_distributed_execution = on;
alter role {SYSTEM_ROLE} in database {{database}} set citus.allow_nested_distributed_execution = on;
alter database {{database}} set citus.propagate_set_commands = 'local';
alter database {{database}} set citus.multi_shard_modify_mode = 'sequential'
"""
_QUESTION = "Server and workers must be stopped, and a backup be at hand. Distribute the database? [y/N] "


class Command(BaseCommand):
    help = "Distribute the tables over the servers of a Citus cluster, by end user; tables that are need nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--plan", action="store_true", help="only show the tables and the statements")
        parser.add_argument("--yes", action="store_true", help="do not ask")
        parser.add_argument("--shards", type=int, default=32, help="parts of a split table, at least one per server")

    def handle(self, *args: Any, **options: Any) -> None:
        """Show what would be done, ask, and do it in one transaction."""
        with as_owner():
            executor = MigrationExecutor(connection)
            if executor.migration_plan(executor.loader.graph.leaf_nodes()):
                raise CommandError("migrations are not applied: run manage.py migrate first")
            if not has_citus():
                raise CommandError("the extension citus is not installed in this database")
            plan = self._plan(shards=options["shards"], with_statements=options["plan"])
            if not plan.statements:
                self.stdout.write("nothing is left to do: every table is in its place")
            elif not options["plan"] and (options["yes"] or input(_QUESTION).strip().lower() == "y"):
                self._distribute(plan)

    def _plan(self, *, shards: int, with_statements: bool) -> Plan:
        schema = read_schema()
        places = layout(schema)
        try:
            plan = plan_distribution(schema=schema, places=places, shards=shards)
        except CannotDistribute as error:
            raise CommandError(str(error)) from error
        for name, place in sorted(places.items()):
            self.stdout.write(f"{name}: {place.placement.value} {place.column} ({place.reason})")
        if with_statements:
            self.stdout.write("".join(f"{statement};\n" for statement in plan.statements))
        for name, reason in sorted(plan.unchecked.items()):
            self.stdout.write(f"no longer checked by the database: {name} ({reason})")
        return plan

    def _distribute(self, plan: Plan) -> None:
        database = sql.Identifier(str(connection.settings_dict["NAME"])).as_string()
        with one_at_a_time(), transaction.atomic(), connection.cursor() as cursor:
            for role in (APP_ROLE, SYSTEM_ROLE):  # servers call each other by them
                ensure_login(role)
            for statement in (*_SETTINGS.format(database=database).split(";"), *plan.statements):
                cursor.execute(statement)
            apply_row_security()
        self.stdout.write("the database is distributed")
