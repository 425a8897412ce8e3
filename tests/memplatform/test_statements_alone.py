"""A statement outside of transactions becomes one with its scope: preparing, failing, going on afterwards."""

from collections.abc import Iterator
from uuid import uuid4

import psycopg
import pytest
from django.db import DatabaseError, IntegrityError, connection

from apps.tenants.scope import APP_ROLE, DatabaseScope, entered, tenant_scope
from tests.memplatform.scope_settings import fetch

TIMES = 8  # prepared after three, its plan kept after five more
ONE, OTHER = uuid4(), uuid4()
PROJECT = "select current_setting('memplatform.project')"


@pytest.fixture(autouse=True)
def autocommit(transactional_db: None) -> Iterator[None]:
    """Use a new connection, on which nothing is prepared."""
    connection.close()
    yield
    connection.close()


@pytest.fixture
def other_session() -> Iterator[psycopg.Connection]:
    """A connection whose statements don't pass through this one."""
    connection.ensure_connection()
    with psycopg.connect(connection.connection.info.dsn, autocommit=True) as session:
        session.execute("create table of_a_test (number int)")
        session.execute(f"grant select on of_a_test to {APP_ROLE}")
        yield session
        session.execute("drop table of_a_test")


def test_it_has_its_scope_however_often_it_runs() -> None:
    for project in (ONE, OTHER) * TIMES:
        with tenant_scope(project_id=project):
            assert fetch(PROJECT, []) == [(str(project),)]
            assert fetch(f"{PROJECT} where %s = 1", [1]) == [(str(project),)]


def test_what_could_not_be_prepared_is_prepared_later(other_session: psycopg.Connection) -> None:
    count = "select count(*) from of_a_test where number <> %s"
    with tenant_scope(project_id=ONE):
        for _ in range(3):
            fetch(count, [1])
        other_session.execute("alter table of_a_test rename to elsewhere")
        for _ in range(2):
            with pytest.raises(DatabaseError, match="of_a_test"):
                fetch(count, [1])
        other_session.execute("alter table elsewhere rename to of_a_test")
        for _ in range(TIMES):
            assert fetch(count, [1]) == [(0,)]


def test_without_its_scope_it_does_not_run(other_session: psycopg.Connection) -> None:
    other_session.execute(f"grant insert on of_a_test to {APP_ROLE}")
    with entered(DatabaseScope(role="no_such_role")), pytest.raises(DatabaseError, match="no_such_role"):
        fetch("insert into of_a_test values (1) returning 1", [])
    with tenant_scope(project_id=ONE):
        assert fetch("select count(*) from of_a_test", []) == [(0,)]


def test_what_its_commit_finds_is_raised_and_the_connection_goes_on(other_session: psycopg.Connection) -> None:
    other_session.execute("alter table of_a_test add primary key (number)")
    other_session.execute(
        "create table referring (number int references of_a_test deferrable initially deferred);"
        f"grant select, insert on referring to {APP_ROLE}"
    )
    try:
        with tenant_scope(project_id=ONE):
            for _ in range(TIMES):
                with pytest.raises(IntegrityError, match="referring"):
                    fetch("insert into referring values (%s) returning number", [1])
            assert fetch(PROJECT, []) == [(str(ONE),)]
    finally:
        other_session.execute("drop table referring")
