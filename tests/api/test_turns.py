"""POST /v1/turns and GET /v1/traces: accepting turns, and their outcomes."""

from typing import Any

import pytest
from django.core.cache import BaseCache
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import TraceStatus, WorkKind, WorkState
from apps.pipeline.core.identifiers import Prefix, parse
from apps.traces.api import traces
from apps.traces.milestones import AwaitedTrace, Milestone, reached
from apps.traces.models import Trace, Turn
from apps.worker.run_now import permit_to_wait
from benchmarks.model_server import ModelServer, Reply
from tests.api.counting import rows_by_table
from tests.pipeline import answers


def test_sync_answers_what_became_of_the_turns(client: APIClient, conversation: dict[str, Any]) -> None:
    answer = client.post("/v1/turns", {**conversation, "mode": "sync"})

    body = answer.json()
    assert (answer.status_code, body["status"]) == (200, "done")
    assert answer["X-Trace-Id"] == body["trace_id"]
    assert body["stored"] == len(body["memory_ids"]) == 2
    assert {line["outcome"] for line in body["outcomes"]} == {"stored"}
    shown = client.get(f"/v1/memories/{body['memory_ids'][0]}").json()
    assert shown["trace_id"] == body["trace_id"]
    assert shown["origins"][0]["evidence"] in conversation["turns"][0]["content"]


@pytest.mark.parametrize(
    ("said", "retracted", "outcome", "reason"),
    [
        ("Please forget that I live in Lyon.", 1, "retracted", "asked_to_forget"),
        ("Please forget my phone number.", 0, "discarded", "asked_to_forget"),
        ("Forget everything you know about me.", 0, "forget_all_requested", "forget_all_requested"),
        ("Don't store that I'm a nurse.", 0, "discarded", "asked_not_to_store"),
    ],
)
def test_the_answer_says_what_a_request_to_forget_did(
    client: APIClient, conversation: dict[str, Any], said: str, retracted: int, outcome: str, reason: str
) -> None:
    for text in ("I live in Lyon.", said):
        turns = [{"role": "user", "content": text}]
        body = client.post("/v1/turns", {**conversation, "turns": turns, "mode": "sync"}).json()
    (line,) = body["outcomes"]
    assert (body["retracted"], line["outcome"], line["reason"]) == (retracted, outcome, reason)
    assert client.get(f"/v1/traces/{body['trace_id']}").json()["outcomes"] == body["outcomes"]


def test_async_answers_at_once(client: APIClient, conversation: dict[str, Any]) -> None:
    answer = client.post("/v1/turns", conversation)

    assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    row = OutboxRow.objects.get()
    assert row.subject_id == parse(Prefix.TRACE, answer.json()["trace_id"])
    assert row.state == WorkState.PENDING


def test_a_request_costs_few_statements(
    client: APIClient, conversation: dict[str, Any], counted_limits: BaseCache
) -> None:
    """Whether there is room was counted before."""
    client.post("/v1/turns", conversation)

    with CaptureQueriesContext(connection) as statements:
        answer = client.post("/v1/turns", {**conversation, "session_id": "tuesday"})

    assert answer.status_code == 202
    assert len(statements) <= 20


def test_sync_is_answered_at_once_while_enough_others_wait(
    client: APIClient, conversation: dict[str, Any], settings: Any
) -> None:
    settings.SYNC_REQUESTS = 1
    with permit_to_wait() as first:
        assert first
        answer = client.post("/v1/turns", {**conversation, "mode": "sync"})
        assert (answer.status_code, answer.json()["status"]) == (202, "queued")
    again = client.post("/v1/turns", {**conversation, "session_id": "tuesday", "mode": "sync"})
    assert (again.status_code, again.json()["status"]) == (200, "done")
    trace = client.get(f"/v1/traces/{answer.json()['trace_id']}").json()
    assert trace["status"] == "done", "work of the same user that came first was done first"


@override_settings(SYNC_WAIT_SECONDS=0)
def test_sync_that_takes_too_long_answers_as_async_does(client: APIClient, conversation: dict[str, Any]) -> None:
    answer = client.post("/v1/turns", {**conversation, "mode": "sync"})

    assert (answer.status_code, answer.json()["status"]) == (202, "queued")


@pytest.mark.parametrize(("mode", "status"), [("sync", 200), ("async", 202)])
def test_chatter_is_rejected_with_its_reason(
    client: APIClient, conversation: dict[str, Any], mode: str, status: int
) -> None:
    answer = client.post(
        "/v1/turns", {**conversation, "mode": mode, "turns": [{"role": "user", "content": "thanks a lot!"}]}
    )

    assert (answer.status_code, answer.json()["status"]) == (status, "rejected")
    trace = client.get(f"/v1/traces/{answer.json()['trace_id']}").json()
    assert trace["turns"][0]["rejected_for"] == "thanks"
    assert trace["spans"][0]["stage"] == "pre_filter"
    assert trace["counts"]["rejected"] == {"thanks": 1}


def test_a_trace_shows_everything(client: APIClient, conversation: dict[str, Any]) -> None:
    written = client.post("/v1/turns", {**conversation, "mode": "sync", "topic": "life", "metadata": {"app": "x"}})

    answer = client.get(f"/v1/traces/{written.json()['trace_id']}")

    trace = answer.json()
    assert answer["X-Trace-Id"] == trace["id"]
    assert (trace["user_id"], trace["session_id"]) == ("ana", "monday")
    assert (trace["topic"], trace["metadata"]) == ("life", {"app": "x"})
    stages = [span["stage"] for span in trace["spans"]]
    assert (stages[0], stages[-1]) == ("pre_filter", "persist")
    assert trace["outcomes"] == written.json()["outcomes"]
    assert trace["turns"][0]["turn_id"] == "t1"
    assert trace["model_calls"] == []


def test_traces_are_listed_newest_first_and_filtered(client: APIClient, conversation: dict[str, Any]) -> None:
    first = client.post("/v1/turns", {**conversation, "mode": "sync"}).json()["trace_id"]
    second = client.post("/v1/turns", {**conversation, "session_id": "tuesday"}).json()["trace_id"]

    def ids(query: str) -> list[str]:
        return [trace["id"] for trace in client.get(f"/v1/traces?user_id=ana{query}").json()["results"]]

    assert ids("") == [second, first]
    assert ids("&statuses=done") == [first]
    assert ids("&statuses=done&statuses=queued") == [second, first]
    assert ids("&session_id=tuesday") == [second]
    assert client.get("/v1/traces?user_id=bob").json()["results"] == []


@pytest.mark.parametrize("trace_id", ["trc_01a1f8c0283075afaf9f7de008d31f99", "trc_", "mem_1", "%00", "a b"])
def test_unknown_traces(client: APIClient, trace_id: str) -> None:
    answer = client.get(f"/v1/traces/{trace_id}")

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


def test_content_loses_only_what_carries_no_words(client: APIClient, conversation: dict[str, Any]) -> None:
    dirty = "\u202eI live\x07 in\x1b[0m\tLisbon.\u2028שלום\u200f \u2066x\u2069 👩‍👩‍👧"

    client.post("/v1/turns", {**conversation, "turns": [{"role": "user", "content": dirty}]})

    assert Turn.objects.get().content == "I live in[0m\tLisbon.\nשלום\u200f x 👩‍👩‍👧"


def test_null_is_the_same_as_nothing(client: APIClient, conversation: dict[str, Any]) -> None:
    turn = {"role": "user", "content": "I live in Lisbon.", "speaker": None, "turn_id": None, "occurred_at": None}

    answer = client.post("/v1/turns", {**conversation, "turns": [turn], "topic": None, "metadata": None})

    assert answer.status_code == 202
    assert Turn.objects.get().speaker == ""
    assert Trace.objects.get().metadata == {}


@pytest.mark.parametrize(
    ("given", "kept", "offset"),
    [
        ("2025-03-02T09:12:00Z", "2025-03-02T09:12:00Z", 0),
        ("2025-03-02T09:12:00+02:00", "2025-03-02T07:12:00Z", 120),
        ("2025-03-02T09:12:00-09:30", "2025-03-02T18:42:00Z", -570),
        ("2025-03-02T09:12:00", "2025-03-02T09:12:00Z", 0),
    ],
)
def test_times_are_stored_in_utc_with_their_offset(
    client: APIClient, conversation: dict[str, Any], given: str, kept: str, offset: int
) -> None:
    turn = {"role": "user", "content": "I live in Lisbon.", "occurred_at": given}

    trace = client.post("/v1/turns", {**conversation, "turns": [turn]}).json()["trace_id"]

    shown = client.get(f"/v1/traces/{trace}").json()["turns"][0]
    assert (shown["occurred_at"], shown["utc_offset"]) == (kept, offset)


def test_yesterday_is_the_speakers_local_day(
    client: APIClient, conversation: dict[str, Any], model_server: ModelServer
) -> None:
    event = answers.memory(
        "User went to Rome yesterday.", evidence="I went to Rome yesterday.", type="event", value="Rome"
    )
    model_server.answering = lambda _: Reply(text=answers.listing(event))
    said = "2025-06-05T07:30:00+09:00"  # the evening before in UTC
    turn = {"role": "user", "content": "I went to Rome yesterday.", "occurred_at": said}

    answer = client.post("/v1/turns", {**conversation, "mode": "sync", "turns": [turn]}).json()

    memory = client.get(f"/v1/memories/{answer['memory_ids'][0]}").json()
    assert (memory["event_at"], memory["event_precision"]) == ("2025-06-04T00:00:00Z", "day")


def test_the_largest_request_is_taken(client: APIClient, conversation: dict[str, Any]) -> None:
    turns = [{"role": "user", "content": "x" * 20_000, "turn_id": f"{n:0255}"} for n in range(100)]

    answer = client.post("/v1/turns", {"user_id": "u" * 255, "session_id": "ß" * 255, "turns": turns})

    assert answer.status_code == 202
    assert Turn.objects.count() == 100


def test_a_dead_trace_is_returned_as_dead(client: APIClient, conversation: dict[str, Any]) -> None:
    trace = client.post("/v1/turns", conversation).json()["trace_id"]
    Trace.objects.update(status=TraceStatus.DEAD, error="KeyError: x")

    assert client.get(f"/v1/traces/{trace}").json()["error"] == "KeyError: x"


def test_reading_writes_nothing(client: APIClient, conversation: dict[str, Any]) -> None:
    trace = client.post("/v1/turns", conversation).json()["trace_id"]
    before = rows_by_table()

    client.get(f"/v1/traces/{trace}")
    client.get("/v1/traces?user_id=ana")
    client.get("/v1/memories?user_id=nobody-yet")

    assert rows_by_table() == before


@pytest.fixture
def awaited(monkeypatch: pytest.MonkeyPatch) -> list[AwaitedTrace]:
    """Return what requests have waited for; nothing is waited for any longer once it was asked for."""
    asked: list[AwaitedTrace] = []

    def all_reached(questions: set[AwaitedTrace]) -> set[AwaitedTrace]:
        asked.extend(questions)
        return questions

    monkeypatch.setattr(traces, "reached", all_reached)
    return asked


def test_a_caller_waits_for_a_trace_that_has_not_ended(
    client: APIClient, conversation: dict[str, Any], awaited: list[AwaitedTrace]
) -> None:
    trace = client.post("/v1/turns", conversation).json()["trace_id"]
    wanted = AwaitedTrace(parse(Prefix.TRACE, trace))
    assert client.get(f"/v1/traces/{trace}").json()["status"] == "queued"
    assert awaited == []
    assert client.get(f"/v1/traces/{trace}?wait=5").json()["status"] == "queued"
    assert awaited == [wanted]
    assert reached({wanted}) == set()
    Trace.objects.update(status="done")
    assert client.get(f"/v1/traces/{trace}?wait=5").json()["status"] == "done"
    assert awaited == [wanted]
    assert reached({wanted}) == {wanted}
    refused = client.get(f"/v1/traces/{trace}?wait=31")
    assert (refused.status_code, refused.json()["errors"][0]["parameter"]) == (422, "wait")


def test_a_trace_tells_whether_its_memories_are_found_by_meaning(
    client: APIClient, conversation: dict[str, Any], awaited: list[AwaitedTrace]
) -> None:
    body = client.post("/v1/turns", {**conversation, "mode": "sync"}).json()
    url = f"/v1/traces/{body['trace_id']}"
    queued = client.post("/v1/turns", {**conversation, "session_id": "later"}).json()["trace_id"]
    assert client.get(f"/v1/traces/{queued}").json()["index"] == "pending"
    wanted = AwaitedTrace(parse(Prefix.TRACE, body["trace_id"]), Milestone.INDEXED)
    work = OutboxRow.objects.filter(kind=WorkKind.INDEX_MEMORY)
    assert work.update(state=WorkState.PENDING) == 2
    assert client.get(f"{url}?wait=5&milestone=indexed").json()["index"] == "pending"
    assert awaited == [wanted]
    client.get(f"{url}?wait=5")
    assert awaited == [wanted], "it has ended"
    assert reached({wanted, AwaitedTrace(wanted.trace_id)}) == {AwaitedTrace(wanted.trace_id)}
    for state, shown in ((WorkState.DEAD, "failed"), (WorkState.DONE, "done")):
        work.update(state=state)
        assert client.get(url).json()["index"] == shown
        client.get(f"{url}?wait=5&milestone=indexed")
        assert awaited == [wanted]
        assert reached({wanted}) == {wanted}


@pytest.mark.parametrize(
    "content", [None, "", [{"type": "image_url", "image_url": {"url": "https://a.example/b.png"}}]]
)
def test_a_message_without_text_costs_itself_alone(client: APIClient, content: Any) -> None:
    turns = [
        {"role": "user", "content": "I live in Lisbon."},
        {"role": "assistant", "content": content},
    ]
    answer = client.post("/v1/turns", {"user_id": "ana", "session_id": "s", "mode": "sync", "turns": turns})
    assert answer.status_code == 200, answer.content
    assert answer.json()["stored"] == 1
    (skipped,) = answer.json()["skipped"]
    assert skipped["pointer"] == "/turns/1/content"
    assert "no text" in skipped["message"] or "blank" in skipped["message"]


CALLS = [{"id": "c1", "type": "function", "function": {"name": "look_up", "arguments": "{}"}}]


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_a_conversation_of_a_chat_api_is_taken_as_it_is(client: APIClient, mode: str) -> None:
    turns = [
        {"role": "developer", "content": "Be brief."},
        {
            "role": "user",
            "name": "Petra",
            "content": [{"type": "text", "text": "I live"}, {"type": "text", "text": None}],
        },
        {"role": "assistant", "content": None, "tool_calls": CALLS, "refusal": None, "audio": None, "annotations": []},
        {"role": "tool", "tool_call_id": "c1", "content": "x" * 20_001},
        {"role": "function", "name": "look_up", "content": "{}"},
        {"role": "robot", "content": "I live in Delft."},
        {"role": "user"},
        {"role": "user", "content": {"text": "I live in Delft."}},
    ]
    answer = client.post("/v1/turns", {"user_id": "ana", "session_id": "s", "mode": mode, "turns": turns}).json()
    pointers = [each["pointer"] for each in answer["skipped"]]
    assert pointers == [f"/turns/{n}" for n in ("2/content", "3/content", "5/role", "6/content", "7/content")]
    taken = Turn.objects.order_by("position").values_list("role", "speaker", "content")
    assert list(taken) == [
        ("system", "", "Be brief."),
        ("user", "Petra", "I live"),
        ("tool", "", "{}"),
    ]


def test_a_repeated_request_tells_again_what_was_skipped(client: APIClient) -> None:
    body = {
        "user_id": "ana",
        "session_id": "s",
        "turns": [{"role": "user", "content": "Hi, I am Ana."}, {"role": "user"}],
    }
    answers = [client.post("/v1/turns", body, headers={"Idempotency-Key": "once"}).json() for _ in range(2)]
    assert answers[0] == answers[1]
    assert len(answers[0]["skipped"]) == 1
