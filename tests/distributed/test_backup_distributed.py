"""The rows of a distributed database are dumped and restored as docs/scale.md says, and it is distributed again."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import psycopg
import pytest

from memplatform.embedded import programs
from tests.distributed.citus_database import citus_database, run
from tests.distributed.conftest import CITUS_URL

# Filled by `migrate`, and again by the dump.
FILLED_BY_MIGRATE = ("django_content_type", "django_q_schedule")


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(mkdtemp(prefix="dump", dir="/tmp"))
    made.chmod(0o777)  # dumps are written by the account of embedded servers
    yield made
    shutil.rmtree(made)


def test_a_dump_becomes_a_distributed_database_again(distributed: dict[str, str], folder: Path) -> None:
    def call(program: str, *arguments: str) -> None:
        programs.run(owner=programs.owner_of(data_dir=folder / "data"), program=program, arguments=[*arguments])

    dump = str(folder / "dump")
    rows = ("--format=custom", "--data-only", "--exclude-table-data=django_migrations")
    call("pg_dump", *rows, "--file", dump, distributed["DATABASE_OWNER_URL"])
    before = run(distributed, "manage.py", "check_restore")

    with citus_database(CITUS_URL, name="memplatform_restored_test") as restored:
        owner = restored["DATABASE_OWNER_URL"]
        run(restored, "manage.py", "migrate", "-v", "0")
        with psycopg.connect(owner, autocommit=True) as connection:
            connection.execute(f"truncate {', '.join(FILLED_BY_MIGRATE)} cascade")
        call("pg_restore", "--data-only", "--disable-triggers", "--exit-on-error", "--dbname", owner, dump)
        assert run(restored, "manage.py", "check_restore") == before
        run(restored, "manage.py", "distribute", "--yes", "--shards", "4")
        assert run(restored, "manage.py", "check_restore") == before
