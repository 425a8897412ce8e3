"""Keep the rows of the test database, and put them back in later tests: faster than making them anew in each."""

from django.db import connection

from tests.emptied import KEPT

# Rows are kept in a schema of their own, which emptying the database leaves alone, and put back by one function.
# Triggers, among them those of foreign keys, do not fire for a replica: the rows have been through them before.
_KEEP = f"""
do $$ declare name text; columns text; has_rows boolean; body text := ''; begin
  create schema kept;
  for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname <> all(array{KEPT}) loop
    execute format('select exists (select from public.%I)', name) into has_rows;
    continue when not has_rows;
    execute format('create table kept.%I as table public.%I', name, name);
    select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
      where attrelid = format('public.%I', name)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
    body := body || format('insert into public.%I (%s) select %s from kept.%I; ', name, columns, columns, name);
  end loop;
  execute format(
    'create function kept.put_back() returns void language plpgsql set session_replication_role to replica as %L',
    'begin ' || body || 'end');
end $$
"""


def are_kept() -> bool:
    """Return True if this database has kept rows already."""
    with connection.cursor() as cursor:
        cursor.execute("select to_regnamespace('kept') is not null")
        return bool(cursor.fetchone()[0])


def keep() -> None:
    """Keep all rows that are there; may be called once in a database."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP)


def put_back() -> None:
    """Insert the kept rows, with the identifiers that they had."""
    with connection.cursor() as cursor:
        cursor.execute("select kept.put_back()")
