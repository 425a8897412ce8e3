"""Row-level security: roles, privileges and policies, brought up to date after each migration.

Every table with `project_id` or `end_user_id` gets its policies, so a new table needs no line here. A table whose rows
belong to a tenant by neither column fails tests/memplatform/test_row_security.py.
docs/decisions/row-level-security.md explains the policies.
"""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction
from psycopg import sql

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE

PROJECTS = "tenants_project"
LEDGER, CHECKPOINTS, MIGRATIONS = "memories_ledgerentry", "memories_ledgercheckpoint", "django_migrations"


def _is_set(column: str, setting: str) -> str:
    """Return the condition that a column has the value of a setting; no row has it where nothing is set.

    Texts are compared, as a setting that was local to an earlier transaction is empty in the next one, which is no
    UUID. Coalesced, the planner takes it for half of the rows instead of a two hundredth, and no index serves it.
    """
    return f"coalesce({column}::text = current_setting('{setting}', true), false)"


_IS_MIGRATING = "current_setting('memplatform.migrating', true) = 'on'"
# Rows without a project: those of the scope's end user are recognised by comparison, others one by one. Functions, as
# a subquery in a policy would be planned, and prepared for execution, in every statement with such a table. They run
# with the rights of their caller, so they find the end users of the scope's project alone.
# A function in SQL would be read and inlined each time that a statement is planned. The setting is read into a
# variable, since a condition on the setting itself would read it for each row that is looked at.
FUNCTIONS = """
create or replace function is_end_user_of_project(wanted uuid) returns boolean
language plpgsql stable parallel safe as $$
begin
    return exists (select from tenants_enduser where id = wanted);
end $$;

create or replace function end_user_of_scope() returns uuid language plpgsql stable parallel safe as $$
declare
    wanted uuid := nullif(current_setting('memplatform.end_user', true), '')::uuid;
begin
    return (select id from tenants_enduser where id = wanted);
end $$;
"""
_READ = "end_user_id = (select end_user_of_scope()) or is_end_user_of_project(end_user_id)"
# The end user may be a row of the same statement, which the other function does not find.
_WRITTEN = f"{_is_set('end_user_id', 'memplatform.end_user')} or is_end_user_of_project(end_user_id)"


@dataclass(frozen=True, slots=True)
class Policy:
    """Which rows a role may read (`using`) and write (`check`), as SQL conditions."""

    name: str
    role: str
    using: str
    check: str


@dataclass(frozen=True, slots=True)
class TenantTable:
    """A table whose rows belong to tenants."""

    name: str
    owner: str
    has_project: bool

    def policies(self) -> Iterator[Policy]:
        """Yield its policies; whoever has none of these roles reads and writes nothing."""
        if self.name == PROJECTS or self.has_project:
            column = "id" if self.name == PROJECTS else "project_id"
            # Queries name the project where they search by it. In a form that no index serves, the policy doesn't
            # tempt the planner to read a whole project, as long as there are no statistics, instead of the row that
            # a query asks for. One condition for reading and writing is prepared once where a statement does both.
            condition = _is_set(column, "memplatform.project")
            yield Policy("tenant", APP_ROLE, condition, condition)
        else:
            yield Policy("tenant", APP_ROLE, _READ, _WRITTEN)
        yield Policy("system", SYSTEM_ROLE, "true", "true")
        yield Policy("migration", self.owner, _IS_MIGRATING, _IS_MIGRATING)


def apply_row_security() -> None:
    """Bring privileges and policies of all tables up to date; to be run as their owner."""
    with connection.cursor() as cursor:
        cursor.execute(FUNCTIONS)
    both = f"{APP_ROLE}, {SYSTEM_ROLE}"
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("select current_schema()")
        (schema,) = cursor.fetchone()
        _run(cursor, f"grant usage on schema {{}} to {both}", schema)
        _run(cursor, f"grant select, insert, update, delete on all tables in schema {{}} to {both}", schema)
        _run(cursor, f"grant usage, select on all sequences in schema {{}} to {both}", schema)
        _run(cursor, f"revoke insert, update, delete on {{}} from {both}", MIGRATIONS)
        # Entries of the ledger are sealed and removed by the system alone.
        _run(cursor, f"revoke update, delete on {{}}, {{}} from {both}", LEDGER, CHECKPOINTS)
        _run(cursor, f"revoke insert on {{}} from {APP_ROLE}", CHECKPOINTS)
        _run(cursor, f"grant update (number, hash), delete on {{}} to {SYSTEM_ROLE}", LEDGER)
    for table in tenant_tables():
        with transaction.atomic(), connection.cursor() as cursor:
            if _is_protected(cursor, table):  # to replace its policies takes a lock which waits for all readers
                continue
            cursor.execute("select polname from pg_policy where polrelid = %s::regclass", [table.name])
            for (name,) in cursor.fetchall():
                _run(cursor, "drop policy {} on {}", name, table.name)
            for each in table.policies():
                conditions = f"using ({each.using}) with check ({each.check})"
                _run(cursor, "create policy {} on {} to {} " + conditions, each.name, table.name, each.role)
                _run(cursor, f"comment on policy {{}} on {{}} is '{_digest(each)}'", each.name, table.name)
            _run(cursor, "alter table {} enable row level security, force row level security", table.name)


_TENANT_TABLES = """
select class.relname, pg_get_userbyid(class.relowner), bool_or(attname = 'project_id')
from pg_class class join pg_attribute on attrelid = class.oid and not attisdropped
where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace
    and (attname in ('project_id', 'end_user_id') or relname = %s)
group by class.oid, class.relname, class.relowner order by class.relname
"""


def tenant_tables() -> list[TenantTable]:
    """Return the tables that need policies."""
    with connection.cursor() as cursor:
        cursor.execute(_TENANT_TABLES, [PROJECTS])
        return [TenantTable(*row) for row in cursor.fetchall()]


_STATE = """
select relrowsecurity and relforcerowsecurity,
    array(select obj_description(policy.oid, 'pg_policy') from pg_policy policy
          where polrelid = class.oid order by polname)
from pg_class class where class.oid = %s::regclass
"""


def unprotected_tables() -> list[str]:
    """Return the names of tenant tables whose policies are not those of this version, or not in force."""
    with connection.cursor() as cursor:
        return [table.name for table in tenant_tables() if not _is_protected(cursor, table)]


def _is_protected(cursor: Any, table: TenantTable) -> bool:
    wanted = sorted(table.policies(), key=lambda each: each.name)
    cursor.execute(_STATE, [table.name])
    return bool(cursor.fetchone() == (True, [_digest(each) for each in wanted]))


def _digest(policy: Policy) -> str:
    return hashlib.sha256(repr(policy).encode()).hexdigest()


def _run(cursor: Any, statement: str, *names: str) -> None:
    cursor.execute(sql.SQL(statement).format(*map(sql.Identifier, names)).as_string())
