"""The roles of the database, and the statements that make them, the database and its extension.

What the application runs as, and who may become it. The statements may be run again: what is there stays, but for
passwords, which become those of the settings.
"""

import base64
import hashlib
import hmac
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg
from django.conf import settings
from django.core.management.base import CommandError
from django.db import ProgrammingError, connection, transaction
from psycopg import sql

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE

_ADVICE = "run `manage.py database prepare --administrator URL` with the address of a superuser"
_ITERATIONS = 4_096  # PostgreSQL's own
_ROLE = """do $$ begin
if not exists (select from pg_roles where rolname = {name}) then create role {role}; end if;
end $$"""
_IS_READY = """
select count(*) = 2 from pg_roles login, pg_roles role
where login.rolname = %s and login.rolcanlogin and role.rolname in (%s, %s) and pg_has_role(login.oid, role.oid, 'SET')
"""


def ensure_roles() -> None:
    """Create the roles that are missing, and let the login of the application become them.

    The login is the one of DATABASE_URL; one that does not exist is created with its password. Raises CommandError
    with the statements to run where the owner may not create roles.
    """
    database = settings.DATABASES["default"]
    login = str(database.get("USER") or APP_ROLE)
    if can_become_roles(login):
        return
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for role in (APP_ROLE, SYSTEM_ROLE, login):
                cursor.execute(creation(role))
            cursor.execute("select rolcanlogin from pg_roles where rolname = %s", [login])
            if cursor.fetchone() == (False,):
                for each in logging_in(login, str(database.get("PASSWORD") or "")):
                    cursor.execute(each)
            for each in becoming_roles(login):
                cursor.execute(each)
    except ProgrammingError as error:
        raise CommandError(f"the roles of the application can't be created ({error}); {_ADVICE}") from error


def can_become_roles(login: str) -> bool:
    """Return True if the login may connect and become both roles."""
    with connection.cursor() as cursor:
        cursor.execute(_IS_READY, [login, APP_ROLE, SYSTEM_ROLE])
        return bool(cursor.fetchone()[0])


def creation(role: str) -> str:
    """Return the statement that creates a role unless it exists."""
    return statement(_ROLE, name=sql.Literal(role), role=sql.Identifier(role))


def logging_in(role: str, password: str) -> Iterator[str]:
    """Yield the statements that let a role log in, with a password if there is one."""
    yield statement("alter role {role} login", role=sql.Identifier(role))
    if password:
        hashed = sql.Literal(scram(password))
        yield statement("alter role {role} password {hashed}", role=sql.Identifier(role), hashed=hashed)


def becoming_roles(login: str) -> Iterator[str]:
    """Yield the statements that let a login become the roles of the application."""
    for role in (APP_ROLE, SYSTEM_ROLE):
        if role != login:
            grant = "grant {role} to {login} with inherit false, set true"
            yield statement(grant, role=sql.Identifier(role), login=sql.Identifier(login))


def statement(template: str, **parts: sql.Composable) -> str:
    """Return a statement with quoted names and values."""
    return sql.SQL(template).format(**parts).as_string()


def scram(password: str) -> str:
    """Return what PostgreSQL stores of a password (RFC 5803), so that no log of the server shows it."""
    salt = os.urandom(16)
    salted = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, _ITERATIONS)
    stored = hashlib.sha256(hmac.digest(salted, b"Client Key", "sha256")).digest()
    server = hmac.digest(salted, b"Server Key", "sha256")
    shown = (base64.b64encode(part).decode() for part in (salt, stored, server))
    return "SCRAM-SHA-256${}:{}${}:{}".format(_ITERATIONS, *shown)


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
