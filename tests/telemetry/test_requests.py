"""Which ids of callers are taken over, and what lines of the log tell of them."""

import json
import logging

import pytest
from rest_framework.test import APIClient
from structlog.contextvars import bound_contextvars

from apps.telemetry.tracing import current_traceparent, span
from apps.traces.models import Trace
from memplatform.logs import LogFormat, formatter
from memplatform.request_telemetry import request_id_of

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


@pytest.mark.parametrize("given", ["r-1", "01HX:/+=._-", "a" * 128])
def test_an_id_that_can_be_logged_is_taken_over(given: str) -> None:
    assert request_id_of(given) == given


@pytest.mark.parametrize("given", [None, "", "a" * 129, "two words", "ä", "line\nbreak", '"', "<b>"])
def test_otherwise_a_new_id_is_made(given: str | None) -> None:
    first, second = request_id_of(given), request_id_of(given)
    assert first != second
    assert len(first) == 32


def test_lines_of_the_log_name_request_trace_and_span() -> None:
    record = logging.LogRecord("apps", logging.WARNING, __file__, 1, "happened", None, None)
    with bound_contextvars(request_id="r-1"), span("GET", parents=[VALID]):
        line, text = json.loads(formatter(LogFormat.JSON).format(record)), formatter(LogFormat.TEXT).format(record)
        assert current_traceparent() == VALID
    assert (line["request_id"], line["trace_id"], line["span_id"]) == ("r-1", TRACE, SPAN)
    assert text.endswith(f"event='happened' request_id='r-1' trace_id='{TRACE}' span_id='{SPAN}'")
    assert "request_id" not in formatter(LogFormat.TEXT).format(record)


@pytest.mark.parametrize("given", ["", "ana@example.com", f"ff-{TRACE}-{SPAN}-01", f"00-{'0' * 32}-{SPAN}-01"])
def test_an_invalid_traceparent_is_ignored(given: str) -> None:
    with span("GET", parents=[given]):
        assert current_traceparent() == ""


def test_answers_and_problems_name_their_request(client: APIClient) -> None:
    found = client.get("/v1/memories", {"user_id": "ana"}, headers={"X-Request-Id": "r-2"})
    assert (found.status_code, found["X-Request-Id"]) == (200, "r-2")
    refused = client.get("/v1/memories", {"nonsense": "1"}, headers={"X-Request-Id": "r-3"})
    assert (refused.status_code, refused["X-Request-Id"], refused.json()["request_id"]) == (422, "r-3", "r-3")
    unknown = client.get("/v1/nowhere", headers={"X-Request-Id": "not one"})
    assert unknown.json()["request_id"] == unknown["X-Request-Id"] != "not one"


def test_the_trace_of_a_caller_is_kept_with_the_trace(client: APIClient, conversation: dict[str, object]) -> None:

    accepted = client.post("/v1/turns", conversation, format="json", headers={"traceparent": VALID}).json()
    assert Trace.objects.get().traceparent == VALID
    assert client.get(f"/v1/traces/{accepted['trace_id']}").json()["distributed_trace_id"] == TRACE
