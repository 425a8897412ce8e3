"""Empty the test database after a test that has committed.

Django's own way, `flush`, truncates all tables, which gives each table and index a new file, and then makes permissions
and content types anew. Here rows are deleted, because tests leave few of them in few tables.
"""

from django.db import connections
from django.test import TransactionTestCase

# Made by migrations, and the same after a flush.
KEPT = ["django_migrations", "django_content_type", "auth_permission"]
# Their triggers refuse deletion always, and truncation unless `allow` was called.
LEDGER = ["memories_ledgerentry", "memories_ledgercheckpoint"]
# Other triggers, among them those of foreign keys, do not fire for a replica.
_DELETE = f"""
do $$ declare name regclass; begin
  set local session_replication_role = replica;
  for name in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname <> all(array{[*KEPT, *LEDGER]}) loop
    execute format('delete from %s', name);
  end loop;
  truncate {", ".join(LEDGER)};
end $$
"""


def allow() -> None:
    """Disable the triggers that refuse to empty the ledger, and let cases delete rows instead of truncating tables."""
    with connections["default"].cursor() as cursor:
        cursor.execute("alter table memories_ledgerentry disable trigger ledger_not_emptied")
        cursor.execute("alter table memories_ledgercheckpoint disable trigger ledger_checkpoint_not_emptied")
    TransactionTestCase._fixture_teardown = _delete_rows  # type: ignore[attr-defined]  # private


def _delete_rows(case: TransactionTestCase) -> None:
    empty()


def empty() -> None:
    """Delete all rows of tests."""
    with connections["default"].cursor() as cursor:
        cursor.execute(_DELETE)
