"""The roles of the application are created by the owner, or the owner is told how."""

import pytest
from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from apps.tenants.scope import APP_ROLE, SYSTEM_ROLE
from memplatform.database_roles import ensure_roles

LOGIN = "somebody's login"


@pytest.fixture
def login(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(settings.DATABASES["default"], "USER", LOGIN)
    monkeypatch.setitem(settings.DATABASES["default"], "PASSWORD", "se'cret")


def found(statement: str, *values: str) -> list[tuple[object, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return cursor.fetchall()


@pytest.mark.usefixtures("login")
def test_the_login_is_created_and_may_become_the_roles() -> None:
    ensure_roles()
    ensure_roles()

    (role,) = found("select rolcanlogin, rolsuper, rolbypassrls, rolinherit from pg_roles where rolname = %s", LOGIN)
    assert role == (True, False, False, True)
    for name in (APP_ROLE, SYSTEM_ROLE):
        can = "select pg_has_role(%s, %s, 'SET'), pg_has_role(%s, %s, 'USAGE')"
        assert found(can, LOGIN, name, LOGIN, name) == [(True, False)]


@pytest.mark.usefixtures("login")
def test_its_password_is_hashed() -> None:
    ensure_roles()

    ((stored,),) = found("select rolpassword from pg_authid where rolname = %s", LOGIN)
    assert str(stored).startswith("SCRAM-SHA-256$")


@pytest.mark.usefixtures("login")
def test_who_may_not_create_roles_is_told_what_to_run() -> None:
    with connection.cursor() as cursor:
        cursor.execute("create role powerless")
        cursor.execute("set local role powerless")

    with pytest.raises(CommandError, match="database prepare --administrator URL"):
        ensure_roles()
