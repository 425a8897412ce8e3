"""Options of the database's address reach the connection, and every process limits its statements."""

import json
import os
import subprocess
import sys
from contextlib import nullcontext

import psycopg
import pytest
from django.conf import settings
from django.db import OperationalError, connection, transaction

from apps.tenants.scope import no_tenant
from memplatform.database_settings import connection_options, limited
from memplatform.environment import Environment, InvalidSetting
from tests.instance import PROJECT

ADDRESS = "postgresql://app:pw@db.example:6432/name?"
FORM = "DATABASE_URL must be like postgresql://user:password@host:5432/name"
OPTIONS = "sslmode=verify-full&sslrootcert=/etc/ca.pem&target_session_attrs=read-write&application_name=mine"


def settings_with(**environment: str) -> dict[str, dict[str, object]]:
    code = (
        "import json; from memplatform import settings as s;"
        "print(json.dumps({'app': s.DATABASES['default']['OPTIONS'], 'owner': s.DATABASE_OWNER_OPTIONS}))"
    )
    given = os.environ | {"SECRET_KEY": "k3y-" * 20} | environment
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, env=given, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_options_of_both_addresses_are_kept() -> None:
    found = settings_with(
        DATABASE_URL=f"{ADDRESS}{OPTIONS}&options=-c%20work_mem=64MB",
        DATABASE_OWNER_URL="postgresql://owner:pw@past.pooler:5432/name?sslmode=require",
        DB_PREPARE="false",
    )
    expected = {
        "sslmode": "verify-full",
        "sslrootcert": "/etc/ca.pem",
        "target_session_attrs": "read-write",
        "application_name": "mine",
        "options": "-c work_mem=64MB",
        "server_side_binding": True,
        "prepare_threshold": None,
    }
    assert expected.items() <= found["app"].items()
    assert found["owner"] == {"sslmode": "require"}


@pytest.mark.parametrize(
    ("given", "statement", "lock"),
    [({}, "30s", "10s"), ({"options": "-c statement_timeout=5000 -c work_mem=64MB"}, "5s", "10s")],
)
@pytest.mark.django_db
def test_limits_of_the_address_take_precedence(given: dict[str, str], statement: str, lock: str) -> None:
    options = limited(
        connection_options(given=given, is_prepared=True, pool_size=0), statement_seconds=30, lock_seconds=10
    )
    server = connection.get_connection_params()
    address = {name: server[name] for name in ("host", "port", "user", "password", "dbname") if server.get(name)}
    with psycopg.connect(**address, options=options["options"]) as opened:
        shown = [opened.execute(f"show {name}").fetchone() for name in ("statement_timeout", "lock_timeout")]
    assert shown == [(statement,), (lock,)]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("in_transaction", [False, True])
def test_behind_a_pooler_each_transaction_has_the_limits(in_transaction: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connection.settings_dict, "LOCAL_LIMITS", {"statement_timeout": "50", "lock_timeout": "20"})
    block = transaction.atomic() if in_transaction else nullcontext()
    with no_tenant(), pytest.raises(OperationalError, match="statement timeout"), block, connection.cursor() as cursor:
        cursor.execute("select pg_sleep(30)")
    with connection.cursor() as cursor:
        cursor.execute("show statement_timeout")
        assert cursor.fetchone() == ("0",)


def test_the_usual_settings_bind_on_the_server() -> None:
    assert settings.DATABASES["default"]["OPTIONS"]["server_side_binding"] is True


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("DB_POOL_SIZE", "many", "DB_POOL_SIZE is 'many', not a whole number"),
        ("WORK_THREADS", "0", "WORK_THREADS is 0, but must be at least 1"),
        ("HEARTBEAT_SECONDS", "nan", "HEARTBEAT_SECONDS is nan, but must be at least 0"),
        ("HTTPS", "perhaps", "HTTPS is 'perhaps', neither true nor false"),
        ("LOG_FORMAT", "xml", "LOG_FORMAT is 'xml', not one of text, json"),
        ("MODELS", '{"x"', "MODELS is no JSON: Expecting ':' delimiter: line 1 column 5 (char 4)"),
        ("MODELS", "[1]", "MODELS must be a JSON object"),
        ("DATABASE_URL", "mysql://u:secret@h/n", "DATABASE_URL must be like postgresql://user:password@host:5432/name"),
        (
            "DATABASE_URL",
            "postgresql://u:secret@h:p/n",
            "DATABASE_URL must be like postgresql://user:password@host:5432/name",
        ),
    ],
)
def test_what_can_not_be_read_is_named_in_one_line(
    name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    env = Environment(PROJECT / "none")
    readers = {
        "DB_POOL_SIZE": lambda: env.int(name, default=20),
        "WORK_THREADS": lambda: env.int(name, default=8, least=1),
        "HEARTBEAT_SECONDS": lambda: env.float(name, default=5.0),
        "HTTPS": lambda: env.bool(name, default=False),
        "LOG_FORMAT": lambda: env.str(name, default="text", choices=("text", "json")),
        "MODELS": lambda: env.json(name, default={}),
        "DATABASE_URL": lambda: env.db_url(name),
    }
    with pytest.raises(InvalidSetting) as refused:
        readers[name]()
    assert str(refused.value) == told


def test_a_folder_of_sockets_is_written_as_libpq_takes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://app@%2Frun%2Fpostgresql:5433/name")
    address = Environment(PROJECT / "none").db_url("DATABASE_URL")
    assert (address["HOST"], address["PORT"]) == ("/run/postgresql", 5433)


def test_commands_end_with_that_line() -> None:
    given = os.environ | {"WEB_THREADS": "few"}
    done = subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=PROJECT, env=given, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert done.stderr == "settings: WEB_THREADS is 'few', not a whole number\n"
