"""A new database on all servers of a Citus cluster.

CITUS_URL is the address of a database of the coordinator in which the other servers are registered, as a superuser who
may log in to all of them with the same password.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

ROOT = Path(__file__).resolve().parents[2]
NAME = "memplatform_distributed_test"


@contextmanager
def citus_database(url: str, *, name: str = NAME) -> Iterator[dict[str, str]]:
    """Create the database and yield the environment of a process that uses it; drop it afterwards."""
    own = conninfo_to_dict(url)
    with psycopg.connect(url) as connection:
        found = connection.execute("select nodename, nodeport, groupid from pg_dist_node order by groupid").fetchall()
    servers = [(str(host), int(port)) for host, port, _ in found]
    try:
        for host, port in servers:
            _create(make_conninfo(url, host=host, port=port), name)
        (host, port), *workers = servers
        with psycopg.connect(make_conninfo(url, host=host, port=port, dbname=name), autocommit=True) as coordinator:
            coordinator.execute("select citus_set_coordinator_host(%s, %s)", [host, port])
            for worker in workers:
                coordinator.execute("select citus_add_node(%s, %s)", worker)
        password, owner = own.get("password") or "none", own["user"]
        yield {
            **os.environ,
            "SECRET_KEY": "of the test of a distributed database, long enough",
            "ALLOWED_HOSTS": "testserver",
            "DATABASE_URL": f"postgresql://memplatform_app:pw@{host}:{port}/{name}",
            "DATABASE_OWNER_URL": f"postgresql://{owner}:{password}@{host}:{port}/{name}",
        }
    finally:
        for host, port in servers:
            with psycopg.connect(make_conninfo(url, host=host, port=port), autocommit=True) as server:
                server.execute(f"drop database if exists {name} with (force)")


def _create(url: str, name: str) -> None:
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f"drop database if exists {name} with (force)")
        server.execute(f"create database {name}")
    with psycopg.connect(make_conninfo(url, dbname=name), autocommit=True) as database:
        for extension in ("citus", "vector"):
            database.execute(f"create extension {extension}")


def run(environment: dict[str, str], *arguments: str) -> str:
    """Run Python in the environment, and return what it prints. Raises CalledProcessError."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr[-4_000:]
    return done.stdout
