"""Keep the rows of the test database, and put them back in later tests: faster than making them anew in each."""

from enum import StrEnum
from uuid import UUID

from django.db import connection

from apps.pipeline.core.identifiers import new_id
from apps.tenants.models import Project
from apps.traces.policies import policy_of
from tests.emptied import KEPT


class Kept(StrEnum):
    """What is kept, by the name of the schema that keeps it."""

    NEW_PROJECT = "kept_new_project"
    FULL_PROJECT = "kept_full_project"


# Rows are kept in a schema of their own, which emptying the database leaves alone, and put back by one function, with
# another identifier of the project if one is given. Triggers, among them those of foreign keys, do not fire for a
# replica: the rows have been through them before.
_KEEP = """
do $$ declare name text; columns text; kept text; has_rows boolean; body text := ''; project uuid; begin
  select id from tenants_project into strict project;
  create schema {schema};
  for name in select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
      and relname <> all(array{others}) loop
    execute format('select exists (select from public.%I)', name) into has_rows;
    continue when not has_rows;
    execute format('create table {schema}.%I as table public.%I', name, name);
    select string_agg(quote_ident(attname), ', '),
      string_agg(case when atttypid <> 'uuid'::regtype then quote_ident(attname)
        else format('case when %I = %L then coalesce(project, %I) else %I end', attname, project, attname, attname) end,
        ', ') into columns, kept
      from pg_attribute
      where attrelid = format('public.%I', name)::regclass and attnum > 0 and not attisdropped and attgenerated = '';
    body := body || format('insert into public.%I (%s) select %s from {schema}.%I; ', name, columns, kept, name);
  end loop;
  execute format(
    'create function {schema}.put_back(project uuid) returns void language plpgsql '
    'set session_replication_role to replica as %L', 'begin ' || body || 'end');
end $$
"""


def are_kept(what: Kept) -> bool:
    """Return True if this database has kept these rows already."""
    with connection.cursor() as cursor:
        cursor.execute("select to_regnamespace(%s) is not null", [what])
        return bool(cursor.fetchone()[0])


def keep(what: Kept) -> None:
    """Keep all rows that are there, those of one project; may be called once in a database."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP.format(schema=what, others=KEPT))


def new_project() -> Project:
    """Return a project as it is right after it was created, with an identifier of its own."""
    return _put_back(Kept.NEW_PROJECT, project=new_id())


def full_project() -> Project:
    """Put the full project back with the identifiers that it had."""
    return _put_back(Kept.FULL_PROJECT, project=None)


def _put_back(what: Kept, *, project: UUID | None) -> Project:
    """Put rows back, and forget what this process has cached by the identifiers that they had before."""
    policy_of.cache_clear()
    with connection.cursor() as cursor:
        cursor.execute(f"select {what}.put_back(%s)", [project])
    return Project.objects.get(slug="test")
