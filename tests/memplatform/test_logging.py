"""Log lines keep the level that was asked for, and never hold the values of a failing function's variables."""

import json
import logging

import httpx2
import pytest
import structlog
from django.db import DatabaseError, IntegrityError, OperationalError, connection, transaction
from rest_framework.test import APIClient

from memplatform.logs import LogFormat, formatter, logging_settings

log = structlog.get_logger("apps.somewhere")


def fail() -> None:
    words = " ".join(["I", "live", "in", "Lisbon"])
    raise ValueError(len(words))


def test_a_traceback_names_the_place_and_keeps_silent_about_words(caplog: pytest.LogCaptureFixture) -> None:
    try:
        fail()
    except ValueError:
        log.exception("work failed", subject="7")
    (record,) = caplog.records
    told = formatter(LogFormat.TEXT).format(record)
    assert (record.levelname, record.name) == ("ERROR", "apps.somewhere")
    assert "event='work failed' subject='7' failure='ValueError: 16 at " in told
    assert "\n" not in told
    assert "in fail <" in told
    assert "live in" not in told


@pytest.mark.django_db
@pytest.mark.parametrize("form", LogFormat)
@pytest.mark.parametrize(
    "statement",
    [
        "insert into tenants_project (id, name) values (gen_random_uuid(), 'I live in Lisbon')",
        "select 'I live in Lisbon'::int",
        "select * from unnest(array['I live in Lisbon']) \"I live in Lisbon\" where nothing = 1",
    ],
)
def test_a_refused_row_is_not_quoted(statement: str, form: LogFormat, caplog: pytest.LogCaptureFixture) -> None:
    with connection.cursor() as cursor:
        try:
            with transaction.atomic():
                cursor.execute(statement)
        except DatabaseError as error:
            log.exception("work failed", error=str(error) if isinstance(error, IntegrityError) else "")
    (told,) = [formatter(form).format(record) for record in caplog.records]
    assert "Lisbon" not in told
    assert "SQLSTATE" in told
    assert "\n" not in told


def test_json_has_the_fields_of_an_event(caplog: pytest.LogCaptureFixture) -> None:
    log.warning("lease lost", end_user="7 %s")
    line = json.loads(formatter(LogFormat.JSON).format(caplog.records[0]))
    assert line.pop("time")
    assert line == {"level": "warning", "logger": "apps.somewhere", "event": "lease lost", "end_user": "7 %s"}


@pytest.mark.django_db
def test_a_request_that_fails_is_one_line(client: APIClient, caplog: pytest.LogCaptureFixture) -> None:
    def refuse(*_: object) -> None:
        raise OperationalError("the server closed the connection")

    with connection.execute_wrapper(refuse):
        assert client.get("/v1/memories?user_id=ana").status_code == 503
    assert [record.name for record in caplog.records if record.levelname != "INFO"] == ["apps.api.problems"]


def test_what_is_below_the_level_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        log.warning("lease lost")
    assert not caplog.records


def test_addresses_that_are_called_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """Those of webhooks often contain a secret."""
    with caplog.at_level(logging.INFO), httpx2.Client(transport=httpx2.MockTransport(_taken)) as client:
        client.post("https://hooks.example.com/?token=3f9a")
        log.info("delivered")
    assert [record.name for record in caplog.records] == ["apps.somewhere"]


def _taken(_: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(204)


@pytest.mark.parametrize(("level", "of_libraries"), [("DEBUG", "WARNING"), ("INFO", "WARNING"), ("ERROR", "ERROR")])
def test_libraries_are_quieter_than_the_product(level: str, of_libraries: str) -> None:
    found = logging_settings(level=level)
    assert found["root"]["level"] == of_libraries
    assert {found["loggers"][name]["level"] for name in ("apps", "memplatform", "django_structlog")} == {level}
