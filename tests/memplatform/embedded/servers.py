"""Look at an embedded server: ask it, find its process."""

from pathlib import Path

import psutil
import psycopg

from memplatform.embedded import ConnectionParams, socket_directory


def ask(found: ConnectionParams, sql: str) -> str:
    """Return the first value of the last statement's answer, as text."""
    with psycopg.connect(host=found.host, port=found.port, user=found.user, dbname=found.name) as connection:
        cursor = connection.execute(sql)
        while cursor.nextset():
            pass
        row = cursor.fetchone()
    assert row is not None
    return str(row[0])


def is_running(folder: Path) -> bool:
    """Return True if the server of a data folder accepts connections."""
    try:
        psycopg.connect(host=str(socket_directory(folder.resolve())), user="postgres", dbname="memplatform").close()
    except psycopg.OperationalError:
        return False
    return True


def postmaster(folder: Path) -> psutil.Process:
    return psutil.Process(int((folder / "cluster" / "postmaster.pid").read_text().splitlines()[0]))
