"""`migrate` waits for no lock for long: it lets others pass, and tries again."""

from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from apps.tenants.scope import OWNER, entered
from memplatform.management.commands import migrate
from memplatform.management.commands.migrate import as_owner

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _impatient(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.DB_MIGRATION_LOCK_SECONDS = 0.05
    monkeypatch.setattr(migrate, "PAUSE_SECONDS", 0.0)
    with connection.cursor() as cursor:  # so that there is something to do
        cursor.execute("comment on policy tenant on traces_turn is 'outdated'")


def reader() -> psycopg.Connection[Any]:
    """A transaction that has read a table, as a backup does."""
    parameters = connection.get_connection_params()
    address = {
        name: parameters[name] for name in ("host", "port", "user", "password", "dbname") if parameters.get(name)
    }
    opened = psycopg.connect(**address)
    opened.execute("select from traces_turn")
    return opened


def test_it_tries_again_until_the_lock_is_free(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with reader() as holding:
        monkeypatch.setattr(migrate, "uniform", lambda *_: holding.rollback() or 0.0)
        call_command("migrate", verbosity=0)
    assert capsys.readouterr().err == "a lock is held by others; attempt 1 of 20\n"


def test_it_gives_up_after_a_while_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migrate, "ATTEMPTS", 2)
    with reader(), pytest.raises(CommandError, match="a lock was not to be had"):
        call_command("migrate", verbosity=0)
    call_command("migrate", verbosity=0)


def test_a_process_that_may_not_migrate_sees_whether_others_have() -> None:
    call_command("migrate", "--check", verbosity=0)
    with entered(OWNER):
        latest = MigrationRecorder.Migration.objects.filter(app="django_q").latest("id")
        latest.delete()
    with pytest.raises(SystemExit):
        call_command("migrate", "--check", verbosity=0)
    with entered(OWNER):
        MigrationRecorder(connection).record_applied("django_q", latest.name)


def test_a_database_made_before_the_initial_migrations_is_refused() -> None:
    recorder = MigrationRecorder(connection)
    with as_owner():
        recorder.record_applied("memories", "0001_pgvector")
    try:
        with pytest.raises(CommandError, match=r"made before 0\.1\.0"):
            call_command("migrate", verbosity=0)
    finally:
        with as_owner():
            recorder.record_unapplied("memories", "0001_pgvector")
