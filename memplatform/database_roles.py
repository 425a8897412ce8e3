"""The roles of the database: what the application runs as, and who may become them."""

import base64
import hashlib
import hmac
import os
from collections.abc import Iterator

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
