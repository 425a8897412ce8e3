"""Log lines keep the level that was asked for, and never hold the values of a failing function's variables."""

import logging

import httpx2
import pytest
import structlog

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
    told = record.getMessage()
    assert (record.levelname, record.name) == ("ERROR", "apps.somewhere")
    assert told.startswith("event='work failed' subject='7'")
    assert "in fail" in told
    assert "live in" not in told


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
