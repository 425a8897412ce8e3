"""A caller whose request was ended because others hold the same rows is told so, and not that the database is away."""

from typing import Any

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from rest_framework.test import APIClient

from apps.api.problems import Code, problem_of
from apps.tenants.models import EndUser
from apps.traces.get_or_create import hold_end_user
from tests.api.storing import LISBON, listed, put
from tests.outbox.second_connection import Aside


@pytest.mark.django_db(transaction=True)
def test_a_lock_that_is_not_given_in_time(client: APIClient) -> None:
    put(client, LISBON)
    porto = {**LISBON, "content": "Ana lives in Porto.", "object": {"literal": "Porto"}}

    def asks() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("set lock_timeout = '50ms'")
        return client.post("/v1/memories", {"user_id": "ana", "memories": [porto]})

    with transaction.atomic():
        hold_end_user(EndUser.objects.get().id)
        asking = Aside(asks).run().end()

    assert asking.error is None
    assert (asking.result.status_code, asking.result.headers["Retry-After"]) == (503, "1")
    assert asking.result.json()["code"] == "rows_locked"
    assert listed(client) == [LISBON["content"]]
    put(client, porto)


@pytest.mark.parametrize(
    ("cause", "code"),
    [
        (psycopg.errors.DeadlockDetected, Code.ROWS_LOCKED),
        (psycopg.errors.LockNotAvailable, Code.ROWS_LOCKED),
        (psycopg.errors.SerializationFailure, Code.ROWS_LOCKED),
        (psycopg.errors.QueryCanceled, Code.DATABASE_UNAVAILABLE),
        (psycopg.errors.AdminShutdown, Code.DATABASE_UNAVAILABLE),
    ],
)
def test_what_the_database_was_asked_to_wait_for(cause: type[psycopg.Error], code: Code) -> None:
    error = OperationalError("told by the server")
    error.__cause__ = cause()

    problem = problem_of(error)

    assert problem is not None
    assert (problem.code, problem.status) == (code, 503)
