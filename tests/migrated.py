"""Migrated databases that every run copies: the template of test databases, and the data folder of instances.

Migrating takes six seconds of CPU time, copying a fraction of one. Names contain a hash of the migrations, so changed
migrations lead to a new template.
"""

import contextlib
import fcntl
import hashlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

PROJECT = Path(__file__).resolve().parents[1]
KEPT = PROJECT / "var" / "tests"
TEMPLATE = "test_template_"
# Statistics of whatever rows are there when the server happens to look lead to plans that are slow for the next test:
# with those of one end user, it reads whole tables, which are full of what rolled back tests have left.
_WITHOUT_STATISTICS = """
do $$ declare name regclass; begin
  for name in select oid from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace loop
    execute format('alter table %s set (autovacuum_analyze_threshold = 2147483647)', name);
  end loop;
end $$
"""


# A killed server loses nothing by this, as the kernel has what it wrote; one whose machine stops would.
_NOT_FLUSHED = "\nfsync = off\nfull_page_writes = off\n"


@cache
def version() -> str:
    """Return a hash of our migrations and policies, of this file, and of the requirements: packages have migrations."""
    policies = PROJECT / "memplatform" / "row_security.py"
    files = [Path(__file__), PROJECT / "requirements.txt", policies, *sorted(PROJECT.glob("apps/*/migrations/*.py"))]
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]


def template_database(*, server: dict[str, Any], make: Callable[[str], None]) -> str:
    """Return the name of a migrated database on this server, created with `make` if there is none.

    It is created under another name first, so that an interrupted run leaves no incomplete template.
    """
    name, unfinished = f"{TEMPLATE}{version()}", f"{TEMPLATE}unfinished"
    with _alone(), psycopg.connect(**server | {"dbname": "postgres"}, autocommit=True) as connection:
        found = connection.execute("select datname from pg_database where starts_with(datname, %s)", [TEMPLATE])
        names = {row[0] for row in found}
        if name not in names:
            for old in names:
                connection.execute(sql.SQL("drop database {}").format(sql.Identifier(old)))
            make(unfinished)
            with psycopg.connect(**server | {"dbname": unfinished}, autocommit=True) as inside:
                inside.execute(_WITHOUT_STATISTICS)
            renaming = sql.SQL("alter database {} rename to {}")
            connection.execute(renaming.format(sql.Identifier(unfinished), sql.Identifier(name)))
    return name


def data_folder(*, make: Callable[[Path], None]) -> Path:
    """Return the data folder of a stopped server with a migrated database, created with `make` if there is none."""
    folder, unfinished = KEPT / f"instance-{version()}", KEPT / "instance-unfinished"
    with _alone():
        if not folder.exists():
            for old in KEPT.glob("instance-*"):
                shutil.rmtree(old)
            unfinished.mkdir()
            make(unfinished)
            unfinished.rename(folder)
    return folder


def flush_nothing(cluster: Path) -> None:
    """Let the server of a cluster wait for no disk."""
    with (cluster / "postgresql.conf").open("a") as file:
        file.write(_NOT_FLUSHED)


def copy(folder: Path, to: Path) -> None:
    """Copy a folder with owners and modes, because the server refuses files that other accounts can read."""
    subprocess.run(["cp", "-a", f"{folder}/.", str(to)], check=True)


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Lock out the other workers of this checkout."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
