"""Check a database that was restored from a dump."""

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.models import BigIntegerField, Func, Max, Value
from django.db.models.functions import Coalesce

from apps.memories.ledger.chain import verify_ledger
from apps.memories.models import Memory
from apps.outbox.models import OutboxRow
from apps.outbox.querysets import OutboxRowQuerySet
from apps.tenants.models import EndUser, Project
from apps.tenants.scope import APP_ROLE
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Turn
from memplatform.database_roles import can_become_roles
from memplatform.row_security import unprotected_tables


class Command(BaseCommand):
    help = "Check a restored database: migrations, roles, row-level security, sequences and ledger; count its rows."

    def handle(self, *args: Any, **options: Any) -> None:
        problems = list(problems_of_database())
        if problems:
            raise CommandError("\n".join(problems))
        self.stdout.write(f"ready: {counts()}")


SEQUENCE = "outbox_outboxrow_id_seq"


def problems_of_database() -> Iterator[str]:
    """Yield what keeps this version from working on the database, each in one line; nothing if all is well."""
    executor = MigrationExecutor(connection)
    if missing := executor.migration_plan(executor.loader.graph.leaf_nodes()):
        yield f"{len(missing)} migrations are not applied: run manage.py migrate"
        return
    login = str(settings.DATABASES["default"].get("USER") or APP_ROLE)
    if not can_become_roles(login):
        yield f"the login {login!r} may not become the roles of the application: run manage.py migrate"
        return
    if tables := unprotected_tables():
        yield f"row-level security is not in force on {', '.join(tables)}: run manage.py migrate"
    with system_scope(SystemWork.MAINTENANCE):
        try:
            # A sequence that is behind its table would give identifiers a second time.
            given = Func(Value(SEQUENCE), function="pg_sequence_last_value", output_field=BigIntegerField())
            behind = OutboxRow.objects.aggregate(behind=Max("id") - Coalesce(given, 0))["behind"]
        except DatabaseError as error:
            yield f"rows can't be read: {error}"
            return
        if behind is not None and behind > 0:
            yield f"the sequence {SEQUENCE} is behind its table: restore it, or set it with setval()"
        for project in Project.objects.order_by("slug"):
            report = verify_ledger(project_id=project.id)
            if not report.is_intact:
                yield f"the ledger of {project.slug} is not intact: see manage.py verify_ledger {project.slug}"


def counts() -> str:
    """Return how many rows there are of what matters most, to be compared with the server that was dumped."""
    with system_scope(SystemWork.MAINTENANCE):
        queued = OutboxRowQuerySet(OutboxRow).open().count()
        return (
            f"{Project.objects.count()} projects, {EndUser.objects.count()} end users, {Turn.objects.count()} turns, "
            f"{Memory.objects.count()} memories, {queued} pieces of queued work"
        )
