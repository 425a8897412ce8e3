"""The scope of statements: inside and outside of transactions and after errors."""

import threading
from uuid import uuid4

import pytest
from django.db import DatabaseError, NotSupportedError, connection, transaction

from apps.memories.sql_pipeline import pipelined, pipelined_transaction
from apps.outbox.fetch import fetch
from apps.tenants.constant_statements import fetch_constant, run_constant
from apps.tenants.models import Project
from apps.tenants.scope import APP_ROLE, OWNER, SYSTEM_ROLE, OtherProject, entered, no_tenant, tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from tests.memplatform.scope_settings import SETTINGS, seen

ONE, OTHER = uuid4(), uuid4()
ONE_OF = "select 1 / %s::int"
RENAME = "update tenants_project set name = %s where id = %s"


def held_by(statement: str) -> bytes:
    """Return the parameters and the rows that the cursor of a statement still refers to."""
    cursor = connection.connection.kept_cursors[statement]
    values = cursor._query.params if cursor._query else []
    results = [each for each in (cursor.pgresult, *cursor._results) if each]
    rows = [
        each.get_value(row, column) for each in results for row in range(each.ntuples) for column in range(each.nfields)
    ]
    return b" ".join(bytes(each) for each in (*values, *rows) if each)


def rename_and_leave(project: Project) -> None:
    """Rename a project, then try to reach another one, which is an error of the application."""
    run_constant(RENAME, ["elsewhere", project.pk])
    with tenant_scope(project_id=OTHER):
        pass


@pytest.fixture
def autocommit(transactional_db: None) -> None:
    assert connection.get_autocommit()


@pytest.mark.usefixtures("autocommit")
class TestOutsideOfTransactions:
    def test_each_statement_has_the_scope(self) -> None:
        with tenant_scope(project_id=ONE, end_user_id=OTHER):
            assert seen() == (APP_ROLE, str(ONE), str(OTHER))
        with no_tenant():
            assert seen() == (APP_ROLE, "", "")
        with system_scope(SystemWork.SCHEDULE):
            assert seen() == (SYSTEM_ROLE, "", "")

    def test_nothing_is_left_on_the_connection(self) -> None:
        with tenant_scope(project_id=ONE):
            seen()
        connection.connection.execute("select 1")
        raw = connection.connection.execute(SETTINGS).fetchone()
        assert raw[0] not in (APP_ROLE, SYSTEM_ROLE)
        assert raw[1:] == ("", "")

    def test_an_error_is_raised_as_usual(self) -> None:
        with tenant_scope(project_id=ONE), connection.cursor() as cursor:
            with pytest.raises(DatabaseError, match="no_such_table"):
                cursor.execute("select from no_such_table")
            assert seen() == (APP_ROLE, str(ONE), "")

    def test_a_pipeline(self) -> None:
        with tenant_scope(project_id=ONE), connection.cursor() as first, connection.cursor() as second, pipelined():
            first.execute(SETTINGS)
            second.execute(SETTINGS)
            assert first.fetchone() == second.fetchone() == (APP_ROLE, str(ONE), "")

    def test_a_kept_cursor_has_the_scope_of_each_run(self) -> None:
        for project in (ONE, OTHER, ONE):
            with tenant_scope(project_id=project):
                assert run_constant(SETTINGS, []).fetchall() == [(APP_ROLE, str(project), "")]

    def test_a_kept_cursor_runs_again_after_an_error(self) -> None:
        with tenant_scope(project_id=ONE):
            with pytest.raises(DatabaseError, match="division by zero"):
                run_constant(ONE_OF, [0]).fetchall()
            assert run_constant(ONE_OF, [1]).fetchall() == [(1,)]

    @pytest.mark.parametrize("times", [1, 8])  # psycopg prepares a statement that runs often, and keeps other things
    def test_a_kept_cursor_holds_no_texts_of_the_last_run(self, times: int) -> None:
        statement = f"select {times}, %s::text"
        with tenant_scope(project_id=ONE):
            for _ in range(times):
                assert fetch_constant(statement, ["I live in Lisbon."]) == [(times, "I live in Lisbon.")]
        assert b"Lisbon" not in held_by(statement)

    def test_a_kept_cursor_holds_no_parameters_of_a_change(self, project: Project) -> None:
        with tenant_scope(project_id=project.pk):
            run_constant(RENAME, ["Lisbon", project.pk])
            assert b"Lisbon" not in held_by(RENAME)
            with pipelined_transaction():
                run_constant(RENAME, ["Lisbon again", project.pk])
        assert b"Lisbon" not in held_by(RENAME)

    def test_an_error_that_a_pipeline_tells_late_is_one_of_django(self) -> None:
        with tenant_scope(project_id=ONE), pipelined(), pytest.raises(DatabaseError, match="division by zero"):
            fetch_constant(ONE_OF, [0])

    def test_an_exception_undoes_a_pipelined_transaction(self, project: Project) -> None:
        with tenant_scope(project_id=project.pk):
            with pytest.raises(OtherProject), pipelined_transaction():
                rename_and_leave(project)
            with pipelined_transaction():
                run_constant(RENAME, ["here", project.pk])
            assert fetch("select name from tenants_project where id = %s", [project.pk]) == [("here",)]

    def test_a_cursor_of_the_server(self, project: Project, other_project: Project) -> None:
        with tenant_scope(project_id=project.pk):
            rows = Project.objects.values_list("pk", flat=True).iterator(chunk_size=1)
            first = next(rows)
        assert [first, *rows] == [project.pk]
        assert connection.connection.pgconn.transaction_status == 0

    def test_what_sets_no_scope_is_refused(self) -> None:
        with connection.cursor() as cursor, pytest.raises(NotSupportedError):
            cursor.executemany("select %s", [[1]])


@pytest.mark.usefixtures("autocommit")
class TestInTransactions:
    def test_the_scope_begins_with_it(self) -> None:
        with tenant_scope(project_id=ONE), transaction.atomic():
            assert seen() == (APP_ROLE, str(ONE), "")
            assert seen() == (APP_ROLE, str(ONE), "")

    def test_it_changes_with_the_scope(self) -> None:
        with transaction.atomic():
            with tenant_scope(project_id=ONE):
                assert seen() == (APP_ROLE, str(ONE), "")
            with system_scope(SystemWork.SCHEDULE):
                assert seen() == (SYSTEM_ROLE, "", "")
            with entered(OWNER):
                assert seen()[0] not in (APP_ROLE, SYSTEM_ROLE)

    def test_a_rollback_to_a_savepoint_undoes_it(self) -> None:
        with transaction.atomic():
            savepoint = transaction.savepoint()
            with tenant_scope(project_id=ONE):
                seen()
            transaction.savepoint_rollback(savepoint)
            with tenant_scope(project_id=ONE):
                assert seen() == (APP_ROLE, str(ONE), "")

    def test_a_failed_statement(self) -> None:
        with tenant_scope(project_id=ONE), transaction.atomic():
            with system_scope(SystemWork.SCHEDULE), pytest.raises(DatabaseError), transaction.atomic():
                fetch("select from no_such_table", [])
            assert seen() == (APP_ROLE, str(ONE), "")

    def test_a_pipeline(self) -> None:
        with tenant_scope(project_id=ONE), transaction.atomic(), pipelined():
            assert seen() == (APP_ROLE, str(ONE), "")
            with system_scope(SystemWork.SCHEDULE):
                assert seen() == (SYSTEM_ROLE, "", "")

    def test_the_next_one_has_its_own(self) -> None:
        for project in (ONE, OTHER, ONE):
            with tenant_scope(project_id=project), transaction.atomic():
                assert seen() == (APP_ROLE, str(project), "")


def test_threads_have_scopes_of_their_own(transactional_db: None) -> None:
    found: list[tuple[str, str, str]] = []

    def look() -> None:
        with tenant_scope(project_id=OTHER):
            found.append(seen())
        connection.close()

    with tenant_scope(project_id=ONE):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()
        assert seen()[1] == str(ONE)
    assert found == [(APP_ROLE, str(OTHER), "")]
