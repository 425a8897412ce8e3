"""Row-level security: every tenant table has it, and statements without a tenant reach nothing."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.apps import apps
from django.db import ProgrammingError, connection, transaction
from django.db.models import Model
from rest_framework.test import APIClient

from apps.memories.models import LedgerEntry, Memory, MemoryVector
from apps.pipeline.core.enums import Scope
from apps.pipeline.core.identifiers import end_user_id
from apps.privacy.users import USER_TABLES
from apps.tenants.models import EndUser, Project
from apps.tenants.scope import APP_ROLE, OWNER, SYSTEM_ROLE, OtherProject, entered, no_tenant, tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Turn
from memplatform.row_security import apply_row_security, tenant_tables
from tests.conftest import MakeClient


def belonging_to_tenants() -> set[str]:
    """Return the tables that refer to a project or an end user, or to such a table, by the models."""
    models = set(apps.get_models())
    found: set[type[Model]] = {Project, EndUser, *(table.model for table in USER_TABLES)}
    while more := {model for model in models - found if any(_refers(model, to) for to in found)}:
        found |= more
    columns = {model for model in models if {"project_id", "end_user_id"} & _columns(model)}
    return {model._meta.db_table for model in found | columns}


def _refers(model: type[Model], to: type[Model]) -> bool:
    return any(field.related_model is to for field in model._meta.local_fields if field.is_relation)


def _columns(model: type[Model]) -> set[str]:
    return {field.column for field in model._meta.local_fields}


def rows(statement: str, *values: Any) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


@pytest.mark.django_db
def test_every_tenant_table_has_forced_policies() -> None:
    """A new table that belongs to tenants by neither column needs one, or a policy of its own."""
    secured = rows(
        "select relname from pg_class where relrowsecurity and relforcerowsecurity"
        " and (select array_agg(polname::text order by polname) from pg_policy where polrelid = pg_class.oid)"
        " = array['migration', 'system', 'tenant']"
    )

    assert {name for (name,) in secured} == belonging_to_tenants()
    assert {table.name for table in tenant_tables()} == belonging_to_tenants()


@pytest.mark.django_db
@pytest.mark.parametrize("role", [APP_ROLE, SYSTEM_ROLE])
def test_the_roles_own_nothing_and_bypass_nothing(role: str) -> None:
    assert rows("select rolsuper, rolbypassrls, rolcreaterole, rolcreatedb from pg_roles where rolname = %s", role) == [
        (False, False, False, False)
    ]
    assert rows("select count(*) from pg_class where relowner = %s::regrole", role) == [(0,)]


@pytest.mark.django_db
def test_applying_it_again_changes_nothing() -> None:
    before = rows("select oid, polname from pg_policy order by oid")

    apply_row_security()

    assert rows("select oid, polname from pg_policy order by oid") == before


@pytest.mark.django_db
def test_a_changed_policy_is_replaced() -> None:
    with connection.cursor() as cursor:
        cursor.execute("alter policy tenant on memories_memory using (true)")
        cursor.execute("comment on policy tenant on memories_memory is 'older'")
        cursor.execute("alter table memories_entity no force row level security")

    apply_row_security()

    test_every_tenant_table_has_forced_policies()
    (policy,) = rows("select pg_get_expr(polqual, polrelid) from pg_policy where polname = 'tenant'"
                     " and polrelid = 'memories_memory'::regclass")[0]  # fmt: skip
    assert "memplatform.project" in policy


@pytest.fixture
def two_tenants(client: APIClient, other_project: Project, client_of: MakeClient) -> tuple[UUID, UUID]:
    """Two projects with a user each, who has said something; return the ids of the users."""

    said = {
        "user_id": "ana",
        "session_id": "s",
        "mode": "sync",
        "turns": [{"role": "user", "content": "I live in Bonn."}],
    }
    for caller in (client, client_of(other_project, Scope.WRITE)):
        assert caller.post("/v1/turns", said).status_code == 200
    first, second = Project.objects.order_by("slug").values_list("pk", flat=True)[::-1]
    return end_user_id(project_id=first, user_id="ana"), end_user_id(project_id=second, user_id="ana")


@pytest.mark.django_db
@pytest.mark.parametrize("table", ["tenants_enduser", "traces_trace", "traces_session", "memories_memory"])
def test_a_row_is_found_by_its_key_not_by_its_project(project: Project, table: str) -> None:
    """Without statistics, the index of the project would seem as good, and read the whole project."""
    with tenant_scope(project_id=project.pk):
        rows("select set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true)")
        plan = [line.strip() for (line,) in rows(f"explain select * from {table} where id = %s", uuid4())]

    (condition,) = (line for line in plan if line.startswith("Index Cond"))
    assert plan[0].startswith(f"Index Scan using {table}_pkey")
    assert "project_id" not in condition
    assert any("project_id" in line for line in plan if line.startswith("Filter"))


def filled_tables() -> Iterator[str]:
    for table in tenant_tables():
        if rows(f"select exists (select from {table.name})") == [(True,)]:
            yield table.name


def test_without_a_tenant_no_row_is_seen(two_tenants: tuple[UUID, UUID]) -> None:
    """Of every table, with raw SQL."""
    filled = list(filled_tables())
    assert len(filled) > 12

    with no_tenant():
        seen = {name: rows(f"select count(*) from {name}")[0][0] for name in filled}

    assert seen == dict.fromkeys(filled, 0)


def test_without_a_tenant_nothing_is_written(project: Project, two_tenants: tuple[UUID, UUID]) -> None:
    user, _ = two_tenants
    statements = {
        "insert into tenants_enduser (id, project_id, external_id, created_at) values (%s, %s, '', now())": [
            uuid4(),
            project.pk,
        ],
        "insert into outbox_userlease (end_user_id, project_id) values (%s, %s)": [user, project.pk],
    }
    for statement, values in statements.items():
        with no_tenant(), pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            rows(statement, *values)
    with no_tenant(), connection.cursor() as cursor:
        for table in ("memories_memory", "traces_turn", "tenants_apikey"):
            cursor.execute(f"delete from {table}")
            assert cursor.rowcount == 0
    assert Memory.objects.count() == 2


@pytest.mark.parametrize("with_user", [False, True])
def test_a_tenant_sees_its_own_rows(project: Project, two_tenants: tuple[UUID, UUID], with_user: bool) -> None:
    user, _ = two_tenants
    for table in filled_tables():
        column = "id" if table == "tenants_project" else "project_id"
        with tenant_scope(project_id=project.pk, end_user_id=user if with_user else None):
            seen = rows(f"select to_jsonb(each)::text from {table} each")
        assert seen, table
        for row in (json.loads(text) for (text,) in seen):
            assert row.get(column, str(project.pk)) == str(project.pk), table
            assert row.get("end_user_id") in (None, str(user)), table


def test_an_end_user_of_another_project_is_not_read(project: Project, two_tenants: tuple[UUID, UUID]) -> None:
    """Even if code should name it in its scope."""
    _, stranger = two_tenants

    with tenant_scope(project_id=project.pk, end_user_id=stranger):
        assert not Turn.objects.filter(end_user_id=stranger).exists()
        assert not MemoryVector.objects.filter(end_user_id=stranger).exists()


def test_a_tenant_writes_no_rows_of_others(
    project: Project, other_project: Project, two_tenants: tuple[UUID, UUID]
) -> None:
    with tenant_scope(project_id=project.pk):
        assert Memory.objects.filter(project=other_project).update(content="x") == 0
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            Memory.objects.update(project=other_project)


def test_the_scope_of_one_project_reaches_no_other(project: Project, other_project: Project) -> None:
    with (
        tenant_scope(project_id=project.pk),
        pytest.raises(OtherProject),
        tenant_scope(project_id=other_project.pk),
    ):
        pass


def test_the_system_sees_all(two_tenants: tuple[UUID, UUID]) -> None:
    with system_scope(SystemWork.SCHEDULE):
        assert set(Memory.objects.values_list("end_user_id", flat=True)) == set(two_tenants)


def test_only_the_system_seals_and_removes_ledger_entries(project: Project) -> None:
    for statement in ("update memories_ledgerentry set number = 1", "delete from memories_ledgerentry"):
        with (
            tenant_scope(project_id=project.pk),
            pytest.raises(ProgrammingError, match="permission denied"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
    with (
        system_scope(SystemWork.LEDGER),
        pytest.raises(ProgrammingError, match="permission denied"),
        transaction.atomic(),
    ):
        LedgerEntry.objects.update(actor="somebody")


def test_the_owner_needs_to_be_migrating(two_tenants: tuple[UUID, UUID]) -> None:
    """Row-level security is forced: an owner who is no superuser reads nothing by accident."""
    with entered(OWNER), connection.cursor() as cursor:
        cursor.execute("set constraints all immediate")  # deferred keys keep the table from being altered
        cursor.execute("create role plain_owner")
        cursor.execute("grant usage on schema public to plain_owner")
        cursor.execute("alter table traces_session owner to plain_owner")
        apply_row_security()
        cursor.execute("set local role plain_owner")
        assert rows("select count(*) from traces_session") == [(0,)]
        cursor.execute("set local memplatform.migrating = 'on'")
        assert rows("select count(*) from traces_session") == [(2,)]
