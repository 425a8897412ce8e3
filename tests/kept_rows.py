"""Keep the rows of the test database, and put them back in later tests: faster than making them anew in each."""

from enum import StrEnum

from django.db import connection

from apps.intake import session_cache
from apps.memories.search import clear_cache
from apps.tenants.models import Project
from tests.emptied import KEPT


class Kept(StrEnum):
    """What is kept, by the name of the schema that keeps it."""

    NEW_PROJECT = "kept_new_project"
    FULL_PROJECT = "kept_full_project"


# Rows are kept in a schema of their own, which emptying the database leaves alone, and put back by one function.
# Triggers, among them those of foreign keys, do not fire for a replica: the rows have been through them before.
_KEEP = """
do $$ declare name text; columns text; has_rows boolean; body text := ''; begin
  create schema {schema};
  for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname <> all(array{others}) loop
    execute format('select exists (select from public.%I)', name) into has_rows;
    continue when not has_rows;
    execute format('create table {schema}.%I as table public.%I', name, name);
    select string_agg(quote_ident(attname), ', ') into columns from pg_attribute
      where attrelid = format('public.%I', name)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
    body := body || format('insert into public.%I (%s) select %s from {schema}.%I; ', name, columns, columns, name);
  end loop;
  execute format(
    'create function {schema}.put_back() returns void language plpgsql set session_replication_role to replica as %L',
    'begin ' || body || 'end');
end $$
"""


def are_kept(what: Kept) -> bool:
    """Return True if this database has kept these rows already."""
    with connection.cursor() as cursor:
        cursor.execute("select to_regnamespace(%s) is not null", [what])
        return bool(cursor.fetchone()[0])


def keep(what: Kept) -> None:
    """Keep all rows that are there; may be called once in a database."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP.format(schema=what, others=KEPT))


def project_of(what: Kept) -> Project:
    """Put the kept rows back, and return their project; forget what is cached by identifiers, as they repeat."""
    with connection.cursor() as cursor:
        cursor.execute(f"select {what}.put_back()")
    clear_cache()
    session_cache.forget()
    return Project.objects.get(slug="test")
