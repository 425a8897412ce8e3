"""The scope of statements: inside and outside of transactions and after errors."""

import threading
from uuid import uuid4

import pytest
from django.db import DatabaseError, connection, transaction

from apps.tenants.models import Project
from apps.tenants.scope import APP_ROLE, OWNER, SYSTEM_ROLE, entered, no_tenant, tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from tests.memplatform.scope_settings import SETTINGS, fetch, seen

ONE, OTHER = uuid4(), uuid4()


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

    def test_a_cursor_of_the_server(self, project: Project, other_project: Project) -> None:
        with tenant_scope(project_id=project.pk):
            rows = Project.objects.values_list("pk", flat=True).iterator(chunk_size=1)
            first = next(rows)
        assert [first, *rows] == [project.pk]
        assert connection.connection.pgconn.transaction_status == 0


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
