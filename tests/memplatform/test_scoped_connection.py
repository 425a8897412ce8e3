"""The scope of statements: inside and outside of transactions, after errors, and across a pooler."""

import shutil
import socket
import subprocess
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from uuid import UUID, uuid4

import pytest
from django.conf import settings
from django.db import DatabaseError, NotSupportedError, connection, connections, transaction
from rest_framework.test import APIClient

from apps.actions.keys.create_key import create_key
from apps.actions.memories.archive_memories import archive_memories
from apps.actions.projects.create_project import create_project
from apps.memories.sql_pipeline import pipelined, pipelined_transaction
from apps.outbox.fetch import fetch
from apps.pipeline.core.enums import Scope
from apps.tenants.constant_statements import fetch_constant, run_constant
from apps.tenants.models import ApiKey, Project
from apps.tenants.scope import APP_ROLE, OWNER, SYSTEM_ROLE, OtherProject, entered, no_tenant, tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from memplatform.database_settings import connection_options
from memplatform.embedded.owner import owner_of
from tests.instance import PATIENCE, free_port

ONE, OTHER = uuid4(), uuid4()
SETTINGS = (
    "select current_user, current_setting('memplatform.project', true), current_setting('memplatform.end_user', true)"
)
ONE_OF = "select 1 / %s::int"
RENAME = "update tenants_project set name = %s where id = %s"


def seen() -> tuple[str, str, str]:
    """Return role, project and end user of a statement."""
    with connection.cursor() as cursor:
        cursor.execute(SETTINGS)
        role, project, user = cursor.fetchone()
    return role, project or "", user or ""


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


REQUESTS, THREADS, SERVERS = 10_000, 4, 2


@contextmanager
def pgbouncer() -> Iterator[int]:
    """Run a pooler in transaction mode with fewer server connections than clients; yield its port."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
    if program is None:
        pytest.skip("needs pgbouncer (Debian's package of this name)")
    server, port = connection.settings_dict, free_port()
    password = server["PASSWORD"] or "none"
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "pgbouncer.ini")
        config.write_text(f"""
[databases]
{server["NAME"]} = host='{server["HOST"]}' port={server["PORT"] or 5432} user={server["USER"]} password='{password}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = {SERVERS}
ignore_startup_parameters = extra_float_digits,options
""")
        Path(folder).chmod(0o755)
        account = owner_of(data_dir=settings.EMBEDDED_DIR)  # it refuses to run as root, as the server does
        command = [program, str(config)]
        process = subprocess.Popen(command, **account.as_user())
        try:
            _await_port(port)
            yield port
        finally:
            process.terminate()
            process.wait()


def _await_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)  # nothing announces that it listens
    raise AssertionError("the pooler did not start")


@contextmanager
def connected_through(port: int) -> Iterator[None]:
    """Let connections go through the pooler, with the settings of DB_PREPARE=false."""
    connection.close()
    usual, own = connections.settings["default"], connection.settings_dict
    options = connection_options(given={}, is_prepared=False, pool_size=0)
    address = {"HOST": "127.0.0.1", "PORT": port, "OPTIONS": options, "DISABLE_SERVER_SIDE_CURSORS": True}
    connections.settings["default"] = connection.settings_dict = usual | address
    try:
        yield
    finally:
        connection.close()
        connections.settings["default"], connection.settings_dict = usual, own


def test_a_pooler_mixes_up_no_tenants(transactional_db: None) -> None:
    """Tenants take turns on fewer server connections than there are threads, in and outside of transactions.

    Every fifth time a statement without any scope follows, which would see what another one has left.
    """
    projects = [create_project(name=name, slug=name) for name in ("one", "two", "three")]
    for project in projects:
        create_key(project_id=project.pk, name=project.slug, scopes=[Scope.READ])
    outcomes: Counter[str] = Counter()
    usual_role, _, _ = seen()

    def ask(seed: int) -> None:
        random = Random(seed)
        for _ in range(REQUESTS // THREADS):
            outcomes[_outcome(random.choice([*projects, None]), in_transaction=random.random() < 0.5)] += 1
            if random.random() < 0.2:
                role, *tenant = connection.connection.execute(SETTINGS).fetchone()
                outcomes["clean" if role == usual_role and not any(tenant) else "left over"] += 1
        connection.close()

    with pgbouncer() as port, connected_through(port):
        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert outcomes.pop("clean") > REQUESTS / 10
    assert outcomes == {"own": REQUESTS}


def test_turns_and_searches_go_through_a_pooler(transactional_db: None, client: APIClient) -> None:
    """Statements rely on parameters that the server binds: with those of the client, every search fails."""
    turns = [{"role": "user", "content": "I live in Lisbon.", "turn_id": "t1"}]
    with pgbouncer() as port, connected_through(port):
        body = {"user_id": "ana", "session_id": "monday", "turns": turns, "mode": "sync"}
        assert client.post("/v1/turns", body).json()["stored"] == 1
        query = {"user_id": "ana", "query": "Where does Ana live?"}
        assert "Lisbon" in client.post("/v1/memories/search", query).json()["results"][0]["content"]
        archive_memories()


def _outcome(project: Project | None, *, in_transaction: bool) -> str:
    """Read all keys in the scope of a project, or of none; return whose they were."""
    keys = ApiKey.objects.values_list("project_id", flat=True)
    with tenant_scope(project_id=project.pk) if project else no_tenant():
        if in_transaction:
            with transaction.atomic():
                found: list[UUID] = list(keys)
                found += list(keys)
        else:
            found = list(keys)
    expected = {project.pk} if project else set()
    return "own" if set(found) == expected else "leaked"
