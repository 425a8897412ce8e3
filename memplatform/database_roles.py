"""The roles of the database: what the application runs as, and who may become them."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import ProgrammingError, connection, transaction
from psycopg import sql

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE

_ADVICE = "run `manage.py database prepare --administrator URL` with the address of a superuser"


def ensure_roles() -> None:
    """Create the roles that are missing, and let the login of the application become them.

    The login is the one of DATABASE_URL; one that does not exist is created with its password. Raises CommandError
    with the statements to run where the owner may not create roles.
    """
    login = str(settings.DATABASES["default"].get("USER") or APP_ROLE)
    if can_become_roles(login) and can_log_in(login):
        return
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            for role in (APP_ROLE, SYSTEM_ROLE):
                if not _exists(cursor, role):
                    cursor.execute(f"create role {role} nologin nosuperuser nobypassrls")
            _ensure_login(cursor, login)
    except ProgrammingError as error:
        raise CommandError(f"the roles of the application can't be created ({error}); {_ADVICE}") from error


def can_become_roles(login: str) -> bool:
    """Return True if the login may become both roles."""
    with connection.cursor() as cursor:
        if not all(_exists(cursor, role) for role in (APP_ROLE, SYSTEM_ROLE, login)):
            return False
        cursor.execute(
            "select pg_has_role(%s, %s, 'SET'), pg_has_role(%s, %s, 'SET')", [login, APP_ROLE, login, SYSTEM_ROLE]
        )
        return all(cursor.fetchone())


def can_log_in(role: str) -> bool:
    """Return True if a role that exists may log in."""
    with connection.cursor() as cursor:
        cursor.execute("select rolcanlogin from pg_roles where rolname = %s", [role])
        return bool(cursor.fetchone()[0])


def _exists(cursor: Any, role: str) -> bool:
    cursor.execute("select exists (select from pg_roles where rolname = %s)", [role])
    return bool(cursor.fetchone()[0])


def ensure_login(role: str) -> None:
    """Let a role log in, with the password of DATABASE_URL; one that does is left as it is."""
    with connection.cursor() as cursor:
        cursor.execute("select rolcanlogin from pg_roles where rolname = %s", [role])
        if cursor.fetchone()[0]:
            return
        # The password is hashed here, so that no log of the server shows it.
        password = str(settings.DATABASES["default"].get("PASSWORD") or "")
        hashed = connection.connection.pgconn.encrypt_password(password.encode(), role.encode(), b"scram-sha-256")
        login = sql.SQL("alter role {} login password {}")
        cursor.execute(login.format(sql.Identifier(role), sql.Literal(hashed.decode())).as_string())


def _ensure_login(cursor: Any, login: str) -> None:
    if not _exists(cursor, login):
        cursor.execute(sql.SQL("create role {}").format(sql.Identifier(login)).as_string())
    ensure_login(login)
    for role in {APP_ROLE, SYSTEM_ROLE} - {login}:
        membership = f"grant {role} to {{}} with inherit false, set true"
        cursor.execute(sql.SQL(membership).format(sql.Identifier(login)).as_string())
