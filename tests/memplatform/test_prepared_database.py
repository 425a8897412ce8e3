"""A server is prepared by a command or its script, and a dump is restored by an owner without privileges."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from memplatform import embedded
from memplatform.database_roles import NotPrepared, WantedDatabase, prepare, scram
from memplatform.embedded.programs import owner_of, run
from tests.instance import PROJECT, Instance, new_instance

WANTED = WantedDatabase("Memory's", "its owner", "o'wner", "an app", "a'pp")


@pytest.fixture
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Instance]:
    """A fresh server; its superuser is the administrator."""
    with new_instance() as made:
        embedded.up(made.folder / "postgresql")
        yield made


def address(server: Instance, user: str = "postgres", name: str = "postgres", password: str = "") -> str:
    where = embedded.up(server.folder / "postgresql")
    return psycopg.conninfo.make_conninfo(host=where.host, port=where.port, user=user, dbname=name, password=password)


def url(server: Instance, user: str, password: str) -> str:
    where = embedded.up(server.folder / "postgresql")
    return f"postgresql://{user}:{password}@/memory?host={where.host}&port={where.port}"


def settings_of(server: Instance) -> dict[str, str]:
    owner, login = url(server, "owner", "o"), url(server, "app", "a")
    secret = {"SECRET_KEY": "s" * 50}
    return {**server.environment, **secret, "DATABASE_URL": login, "DATABASE_OWNER_URL": owner}


def managed(server: Instance, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = server.command(*arguments)
    return subprocess.run(command, env=settings_of(server), capture_output=True, text=True, check=False, timeout=300)


def test_it_can_be_prepared_again_and_logins_become_their_roles(server: Instance) -> None:
    for _ in range(2):
        prepare(WANTED, administrator=address(server))
    with psycopg.connect(address(server, WANTED.owner, WANTED.name), autocommit=True) as owner:
        owner.execute("create table things (v vector(3))")
    with psycopg.connect(address(server, WANTED.login, WANTED.name), autocommit=True) as login:
        login.execute("set role memplatform_app")
        login.execute("set role memplatform_system")
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            login.execute("drop table things")


def test_the_script_does_the_same(server: Instance) -> None:
    script = server.folder / "prepare.sql"
    script.write_text(WANTED.script())
    script.chmod(0o644)
    server.folder.chmod(0o755)  # psql runs as the account of the server
    assert WANTED.owner_password not in WANTED.script()
    for _ in range(2):
        owner = owner_of(data_dir=server.folder / "postgresql")
        run(owner=owner, program="psql", arguments=["-d", address(server), "-f", str(script)])
    psycopg.connect(address(server, WANTED.login, WANTED.name)).close()


def test_what_the_server_refuses_is_told_in_one_line(server: Instance) -> None:
    prepare(WANTED, administrator=address(server))
    with pytest.raises(NotPrepared, match="the server refuses: permission denied"):
        prepare(WANTED, administrator=address(server, WANTED.login, WANTED.name))


@pytest.mark.parametrize("command", [["createproject", "A"], ["migrate"], ["check_restore"]])
def test_a_command_without_its_database_ends_in_one_line(command: list[str], tmp_path: Path) -> None:
    away = {"DATABASE_URL": "postgresql://app:wrong@127.0.0.1:1/memory", "SECRET_KEY": "s" * 50, "LOG_LEVEL": "ERROR"}
    environment = {**os.environ, **away, "MEMPLATFORM_DATA": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "manage.py", *command],
        cwd=PROJECT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert re.fullmatch(r"the database failed: .*(\n\t.*)*\n", done.stderr), done.stderr


def test_passwords_are_hashed_as_the_server_does(server: Instance) -> None:
    assert scram("x") != scram("x")
    with psycopg.connect(address(server), autocommit=True) as administrator:
        administrator.execute(f"create role somebody login password '{scram('pass')}'")
        ((kept,),) = administrator.execute("select rolpassword from pg_authid where rolname = 'somebody'").fetchall()
        assert str(kept).startswith("SCRAM-SHA-256$4096:")


def test_a_dump_is_restored_by_an_owner_without_privileges(server: Instance) -> None:
    """As the page on deployment says: prepare, restore as the owner, migrate, check."""
    prepared = managed(server, "database", "prepare", "--administrator", address(server))
    assert prepared.returncode == 0, prepared.stderr
    with_logins = replace(server, environment=settings_of(server))
    with_logins.run_all(["migrate", "--verbosity=0"], ["createproject", "Shop", "--slug=shop"])
    dump, owner = server.folder / "dump", owner_of(data_dir=server.folder / "postgresql")
    server.folder.chmod(0o777)
    source = address(server, name="memory")
    run(owner=owner, program="pg_dump", arguments=["-Fc", "-f", str(dump), "-d", source])

    with psycopg.connect(address(server), autocommit=True) as administrator:
        administrator.execute("drop database memory")
        administrator.execute("drop owned by owner, app, memplatform_app, memplatform_system")
        administrator.execute("drop role owner, app, memplatform_app, memplatform_system")
    assert managed(server, "database", "prepare", "--administrator", address(server)).returncode == 0
    as_owner = ["--exit-on-error", "--no-owner", "--no-privileges", "--no-comments", "-d", url(server, "owner", "o")]
    run(owner=owner, program="pg_restore", arguments=[*as_owner, str(dump)])
    assert "1 projects" in with_logins.run_all(["migrate", "--verbosity=0"], ["check_restore"])
