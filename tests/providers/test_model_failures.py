"""What a failed call reports: whether the model is unavailable or refused the request, and how long to wait."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from apps.pipeline.core.model_calls import FailureKind, ModelFailed
from apps.providers import registry
from apps.providers.errors import retry_after_seconds
from benchmarks.model_server import ModelServer, Reply
from tests.providers.model_replies import AT_ONCE, BOTH, OTHER, request, script

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def failure(server: ModelServer, spec: str, reply: Reply) -> ModelFailed:
    script(server, reply)
    with pytest.raises(ModelFailed) as failed:
        registry.PricedModels().complete(request(spec))
    return failed.value


@BOTH
@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, FailureKind.UNAVAILABLE) for status in (401, 403, 404, 408, 429, 500, 529)),
        *((status, FailureKind.REFUSED) for status in (400, 413, 422)),
    ],
)
def test_the_status_decides_the_kind(model_server: ModelServer, spec: str, status: int, kind: FailureKind) -> None:
    assert failure(model_server, spec, Reply(status=status, headers=AT_ONCE)).kind is kind


@BOTH
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(hang_up=True), FailureKind.UNAVAILABLE),
        (Reply(raw=b"", status=307, headers={"location": "http://127.0.0.1:9/"}), FailureKind.UNAVAILABLE),
    ],
)
def test_what_has_no_error_status_has_a_kind_too(
    model_server: ModelServer, spec: str, reply: Reply, kind: FailureKind
) -> None:
    assert failure(model_server, spec, reply).kind is kind


@BOTH
@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"retry-after": "3600"}, 3600.0),
        (503, {"retry-after": "20.5"}, 20.5),
        (429, {"retry-after-ms": "1", "retry-after": "7"}, 0.001),
        (429, AT_ONCE, 0.001),
        (429, {"x-should-retry": "false"}, None),
        (400, {}, None),
    ],
)
def test_the_wait_that_the_server_asks_for_is_reported(
    model_server: ModelServer, spec: str, status: int, headers: dict[str, str], seconds: float | None
) -> None:
    assert failure(model_server, spec, Reply(status=status, headers=headers)).retry_after_seconds == seconds


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("12", 12.0),
        ("0", 0.0),
        (format_datetime(NOW + timedelta(minutes=2), usegmt=True), 120.0),
        (format_datetime(NOW - timedelta(minutes=2), usegmt=True), 0.0),
        ("Sun, 01 Mar 2026 12:00:30", 30.0),  # without a zone it is UTC
        ("soon", None),
        ("", None),
        ("-5", None),
        ("nan", None),
        ("inf", None),
        ("Sun, 99 Mar 9999999 12:00:30 GMT", None),
    ],
)
def test_both_forms_of_retry_after_are_read(header: str, seconds: float | None) -> None:
    assert retry_after_seconds({"retry-after": header}, now=NOW) == seconds


@BOTH
def test_a_date_far_ahead_does_not_hold_a_thread(model_server: ModelServer, spec: str) -> None:
    ahead = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    failed = failure(model_server, spec, Reply(status=503, headers={"retry-after": ahead}))
    assert len(model_server.asked) == 1
    assert failed.retry_after_seconds is not None
    assert 8.0 < failed.retry_after_seconds <= 50.0


@BOTH
@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"error": {"message": "Provider returned error", "code": 502}}', "Provider returned error"),
        (b'{"error": {"message": "Overloaded", "type": "overloaded_error"}, "choices": null}', "Overloaded"),
        (b'{"error": "upstream is gone"}', "upstream is gone"),
        (b'{"choices": []}', "choices"),
        (b'{"detail": "Service restarting"}', "Service restarting"),
        (b"<!doctype html><title>Bad gateway</title>", "Bad gateway"),
        (b"event: error\ndata: {}\n\n", "event: error"),
        (b"", "an empty body"),
    ],
)
def test_an_outage_with_status_200_is_an_outage(model_server: ModelServer, spec: str, body: bytes, words: str) -> None:
    failed = failure(model_server, spec, Reply(raw=body, headers=AT_ONCE))
    assert (failed.kind, failed.permanent, len(model_server.asked)) == (FailureKind.UNAVAILABLE, False, 3)
    assert words in str(failed)


def test_a_choice_that_ended_in_an_error_is_an_outage(model_server: ModelServer) -> None:
    body = b'{"choices": [{"message": {"content": "{"}, "finish_reason": "error", "error": {"message": "lost"}}]}'
    failed = failure(model_server, OTHER, Reply(raw=body, headers=AT_ONCE))
    assert (failed.kind, "lost" in str(failed)) == (FailureKind.UNAVAILABLE, True)


@BOTH
@pytest.mark.parametrize("error", [b'{"message": "too long", "code": 400}', b'{"type": "invalid_request_error"}'])
def test_a_refusal_with_status_200_is_a_refusal(model_server: ModelServer, spec: str, error: bytes) -> None:
    failed = failure(model_server, spec, Reply(raw=b'{"error": ' + error + b"}"))
    assert (failed.kind, failed.permanent, len(model_server.asked)) == (FailureKind.REFUSED, True, 1)


@BOTH
def test_an_outage_with_status_200_may_pass_at_once(model_server: ModelServer, spec: str) -> None:
    script(model_server, Reply(raw=b'{"choices": []}', headers=AT_ONCE), Reply(text="{}"))
    assert registry.PricedModels().complete(request(spec)).text == "{}"
