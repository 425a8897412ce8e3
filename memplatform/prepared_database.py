"""Make the roles, the database and the extension that the application needs on any PostgreSQL, as its administrator.

The statements may be run again: what is there stays, but for passwords, which become those of the settings.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE
from memplatform.database_roles import becoming_roles, creation, logging_in, statement

LEAST_SERVER, LEAST_VECTOR = 16, (0, 7)  # grants with SET; the type halfvec


class NotPrepared(Exception):
    """The server lacks something, in words for an operator."""


@dataclass(frozen=True, slots=True)
class WantedDatabase:
    """The database and its logins, as DATABASE_OWNER_URL and DATABASE_URL name them."""

    name: str
    owner: str
    owner_password: str
    login: str
    login_password: str

    @classmethod
    def of(cls, *, application: Mapping[str, Any], owner: Mapping[str, Any]) -> "WantedDatabase":
        """Read Django's settings of both; without an owner of its own, the login owns the database."""
        return cls(
            name=str(application["NAME"]),
            owner=str(owner.get("USER") or application["USER"]),
            owner_password=str(owner.get("PASSWORD") or application.get("PASSWORD") or ""),
            login=str(application["USER"]),
            login_password=str(application.get("PASSWORD") or ""),
        )

    def server_statements(self) -> Iterator[str]:
        """Yield what is to be run once for the server."""
        for role in dict.fromkeys((APP_ROLE, SYSTEM_ROLE, self.login, self.owner)):
            yield creation(role)
        for role, password in {self.owner: self.owner_password, self.login: self.login_password}.items():
            yield from logging_in(role, password)
        for role in dict.fromkeys((self.login, self.owner)):
            yield from becoming_roles(role)

    def create_database(self) -> str:
        """Return what makes the database, which fails where it exists."""
        return statement(
            "create database {name} owner {owner}", name=sql.Identifier(self.name), owner=sql.Identifier(self.owner)
        )

    def database_statements(self) -> Iterator[str]:
        """Yield what is to be run in the database."""
        yield statement(
            "alter database {name} owner to {owner}", name=sql.Identifier(self.name), owner=sql.Identifier(self.owner)
        )
        yield "create extension if not exists vector"
        yield "alter extension vector update"
        yield statement("grant usage, create on schema public to {owner}", owner=sql.Identifier(self.owner))
        yield f"grant usage on schema public to {APP_ROLE}, {SYSTEM_ROLE}"

    def script(self) -> str:
        """Return all statements as a script for psql."""
        wanted = sql.Literal(self.create_database()).as_string()
        name = sql.Literal(self.name).as_string()
        create = f"select {wanted} where not exists (select from pg_database where datname = {name}) \\gexec"  # noqa: S608  (quoted above)
        connect = f"\\connect {sql.Identifier(self.name).as_string()}"
        ended = [f"{each};" for each in self.server_statements()], [f"{each};" for each in self.database_statements()]
        return "\n".join(["\\set ON_ERROR_STOP on", *ended[0], create, connect, *ended[1], ""])


def prepare(wanted: WantedDatabase, *, administrator: str) -> None:
    """Run the statements as the login of an address. Raises NotPrepared, which says what the server lacks."""
    try:
        with psycopg.connect(administrator, autocommit=True) as server:
            version = server.info.server_version // 10_000
            if version < LEAST_SERVER:
                raise NotPrepared(f"PostgreSQL {LEAST_SERVER} or newer is needed; this server is {version}")
            if not server.execute("select from pg_available_extensions where name = 'vector'").fetchall():
                package = f"apt-get install postgresql-{version}-pgvector"
                raise NotPrepared(f"pgvector is not installed on the server (Debian, Ubuntu: {package})")
            _run(server, *wanted.server_statements())
            if not server.execute("select from pg_database where datname = %s", [wanted.name]).fetchall():
                _run(server, wanted.create_database())
        with psycopg.connect(administrator, autocommit=True, dbname=wanted.name) as database:
            _run(database, *wanted.database_statements())
            ((found,),) = database.execute("select extversion from pg_extension where extname = 'vector'").fetchall()
    except psycopg.Error as error:
        said = error.diag.message_primary or str(error).strip()
        raise NotPrepared(f"the server refuses: {said}") from error
    if tuple(map(int, found.split(".")[:2])) < LEAST_VECTOR:
        least = ".".join(map(str, LEAST_VECTOR))
        raise NotPrepared(f"pgvector {least} or newer is needed; this database has {found}: upgrade its package")


def _run(connection: psycopg.Connection[Any], *statements: str) -> None:
    for each in statements:
        connection.execute(each.encode())
