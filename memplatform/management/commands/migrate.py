"""Django's migrate, run as the owner of the tables; afterwards row-level security is brought up to date."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from random import uniform
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import OperationalError, connection
from psycopg import errors, sql

from apps.tenants.scope import OWNER, entered
from memplatform.database_roles import ensure_roles
from memplatform.row_security import apply_row_security

ATTEMPTS = 20  # of a migration that waits for a lock for longer than DB_MIGRATION_LOCK_SECONDS
PAUSE_SECONDS = 3.0  # between two of them, in which those who waited behind it go on
_LOCK = 7_204_413  # key of the advisory lock that lets one process migrate at a time
_FORMER = "select exists (select from django_migrations where app = 'memories' and name = '0001_pgvector')"
_INVALID = """
select class.relname from pg_index join pg_class class on class.oid = indexrelid
where not indisvalid and relnamespace = current_schema()::regnamespace
"""


class Command(migrate.Command):
    """Migrate, then apply row-level security."""

    def execute(self, *args: Any, **options: Any) -> Any:
        """Run as the owner, checks included: the role of the application can't change tables."""
        with nullcontext() if options["check_unapplied"] else as_owner():
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Create missing roles, migrate, and apply row-level security; begin again where a lock is not to be had.

        Migrations that have ended stay; the one that was waiting was rolled back.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._migrate(*args, **options)
                return
            except OperationalError as error:
                if not isinstance(error.__cause__, errors.LockNotAvailable):
                    raise
                self.stderr.write(f"a lock is held by others; attempt {attempt} of {ATTEMPTS}")
                if attempt < ATTEMPTS:
                    time.sleep(uniform(0.5, 1.5) * PAUSE_SECONDS)  # noqa: S311  (jitter needs no cryptography)
        raise CommandError("a lock was not to be had: end long transactions, see pg_stat_activity, and migrate again")

    def _migrate(self, *args: Any, **options: Any) -> None:
        if options["plan"] or options["check_unapplied"]:
            super().handle(*args, **options)
            return
        ensure_roles()
        with one_at_a_time():
            with connection.cursor() as cursor:
                cursor.execute("select to_regclass('django_migrations') is not null")
                if cursor.fetchone() == (True,):
                    cursor.execute(_FORMER)
                    if cursor.fetchone() == (True,):
                        raise CommandError(
                            "this database was made before 0.1.0 and can't be migrated: export its users with the "
                            "version that made it, make a new database (`make reset` for the embedded one), and "
                            "import them"
                        )
                # What an interrupted `create index concurrently` has left would be in the way of the next.
                cursor.execute(_INVALID)
                for (name,) in cursor.fetchall():
                    cursor.execute(sql.SQL("drop index concurrently {}").format(sql.Identifier(name)).as_string())
            super().handle(*args, **options)
            call_command("createcachetable", verbosity=0)
            apply_row_security()


@contextmanager
def as_owner() -> Iterator[None]:
    """Connect as the owner of the tables while the block runs.

    Statements may take as long as they need, but wait for a lock no longer than DB_MIGRATION_LOCK_SECONDS: whoever
    waits for the lock of a table makes everybody behind wait as well.
    """
    usual = connection.settings_dict
    connection.close()
    connection.close_pool()  # type: ignore[attr-defined]  # of the PostgreSQL backend
    options = {name: value for name, value in usual["OPTIONS"].items() if name != "pool"}
    owner = {**settings.DATABASE_OWNER, "OPTIONS": {**options, **settings.DATABASE_OWNER_OPTIONS}}
    connection.settings_dict = {**usual, **owner}
    try:
        with entered(OWNER):
            with connection.cursor() as cursor:
                cursor.execute(
                    "select set_config('memplatform.migrating', 'on', false),"  # what its policies ask for
                    " set_config('statement_timeout', '0', false), set_config('lock_timeout', %s, false)",
                    [f"{settings.DB_MIGRATION_LOCK_SECONDS * 1_000:.0f}"],
                )
            yield
    finally:
        connection.close()
        connection.settings_dict = usual


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Wait until no other process changes the tables, and let no other do so while the block runs."""
    with connection.cursor() as cursor:
        cursor.execute("select pg_advisory_lock(%s)", [_LOCK])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("select pg_advisory_unlock(%s)", [_LOCK])
