"""Bad input is answered with the documented problem and writes nothing."""

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from tests.api.counting import rows_by_table

TURN = {"role": "user", "content": "I live in Lisbon."}
TURNS = {"user_id": "ana", "session_id": "monday", "turns": [TURN]}
MEMORY = {"type": "fact", "content": "Ana lives in Lisbon."}
MEMORIES = {"user_id": "ana", "memories": [MEMORY]}


def turns(**changes: Any) -> dict[str, Any]:
    return {**TURNS, **changes}


def turn(**changes: Any) -> dict[str, Any]:
    return turns(turns=[{**TURN, **changes}])


def memory(**changes: Any) -> dict[str, Any]:
    return {**MEMORIES, "memories": [{**MEMORY, **changes}]}


def without(body: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in body.items() if key != name}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


# body, status, code, pointer
BAD_TURNS = {
    "unknown field": (turns(user="ana"), 422, "invalid_request", "/user"),
    "unknown field of a turn": (turn(text="x"), 422, "invalid_request", "/turns/0/text"),
    "no user": (without(TURNS, "user_id"), 422, "invalid_request", "/user_id"),
    "no session": (without(TURNS, "session_id"), 422, "invalid_request", "/session_id"),
    "empty user": (turns(user_id=""), 422, "invalid_request", "/user_id"),
    "blank user": (turns(user_id="  "), 422, "invalid_request", "/user_id"),
    "long user": (turns(user_id="u" * 256), 422, "invalid_request", "/user_id"),
    "user of another type": (turns(user_id=7), 422, "invalid_request", "/user_id"),
    "NUL in the user": (turns(user_id="a\0b"), 422, "invalid_request", "/user_id"),
    "line break in the user": (turns(user_id="a\nb"), 422, "invalid_request", "/user_id"),
    "bidi override in the user": (turns(user_id="a\u202eb"), 422, "invalid_request", "/user_id"),
    "no turns": (without(TURNS, "turns"), 422, "invalid_request", "/turns"),
    "empty turns": (turns(turns=[]), 422, "invalid_request", "/turns"),
    "too many turns": (turns(turns=[TURN] * 101), 422, "invalid_request", "/turns"),
    "turns of another type": (turns(turns="hello"), 422, "invalid_request", "/turns"),
    "turn of another type": (turns(turns=["hello"]), 422, "invalid_request", "/turns/0"),
    "wrong role": (turn(role="robot"), 422, "invalid_request", "/turns/0/role"),
    "no content": (turns(turns=[{"role": "user"}]), 422, "invalid_request", "/turns/0/content"),
    "empty content": (turn(content=""), 422, "invalid_request", "/turns/0/content"),
    "blank content": (turn(content=" \n "), 422, "invalid_request", "/turns/0/content"),
    "content of control characters": (turn(content="\x1b\x07"), 422, "invalid_request", "/turns/0/content"),
    "content of another type": (turn(content={"text": "x"}), 422, "invalid_request", "/turns/0/content"),
    "NUL in the content": (turn(content="I live\0here"), 422, "invalid_request", "/turns/0/content"),
    "turn of 1 MB": (turn(content="x" * 1_000_000), 413, "too_large", "/turns/0/content"),
    "turn of one character too many": (turn(content="x" * 20_001), 413, "too_large", "/turns/0/content"),
    "long speaker": (turn(speaker="s" * 121), 422, "invalid_request", "/turns/0/speaker"),
    "no date": (turn(occurred_at="yesterday"), 422, "invalid_request", "/turns/0/occurred_at"),
    "date before 1900": (turn(occurred_at="1899-12-31T00:00:00Z"), 422, "invalid_request", "/turns/0/occurred_at"),
    "date far ahead": (turn(occurred_at="2999-01-01T00:00:00Z"), 422, "invalid_request", "/turns/0/occurred_at"),
    "first date of all": (
        turn(occurred_at="0001-01-01T00:00:00+23:00"),
        422,
        "invalid_request",
        "/turns/0/occurred_at",
    ),
    "last date of all": (
        turn(occurred_at="9999-12-31T23:59:59-23:00"),
        422,
        "invalid_request",
        "/turns/0/occurred_at",
    ),
    "one turn_id twice": (
        turns(turns=[{**TURN, "turn_id": "t"}, {**TURN, "turn_id": "t"}]),
        422,
        "invalid_request",
        "/turns/1/turn_id",
    ),
    "unknown mode": (turns(mode="later"), 422, "invalid_request", "/mode"),
    "long topic": (turns(topic="t" * 65), 422, "invalid_request", "/topic"),
    "metadata of another type": (turns(metadata=[1]), 422, "invalid_request", "/metadata"),
    "large metadata": (turns(metadata={"a": "x" * 9_000}), 422, "invalid_request", "/metadata"),
    "deep metadata": (turns(metadata=nested(9)), 422, "invalid_request", "/metadata"),
    "NUL in a key of the metadata": (turns(metadata={"a\0": 1}), 422, "invalid_request", "/metadata"),
    "no object": ([TURNS], 422, "invalid_request", ""),
}

BAD_MEMORIES = {
    "no memories": ({"user_id": "ana", "memories": []}, "/memories"),
    "unknown type": (memory(type="dream"), "/memories/0/type"),
    "unknown field": (memory(colour="red"), "/memories/0/colour"),
    "empty content": (memory(content=""), "/memories/0/content"),
    "confidence over 1": (memory(confidence=1.5), "/memories/0/confidence"),
    "importance under 0": (memory(importance=-0.1), "/memories/0/importance"),
    "predicate in words": (memory(predicate="lives in"), "/memories/0/predicate"),
    "predicate with a line break": (memory(predicate="lives_in\n"), "/memories/0/predicate"),
    "object without predicate": (memory(object={"literal": "Lisbon"}), "/memories/0/predicate"),
    "object of two kinds": (
        memory(predicate="likes", object={"literal": "tea", "list": ["tea"]}),
        "/memories/0/object",
    ),
    "object of no kind": (memory(predicate="likes", object="tea"), "/memories/0/object"),
    "object of nothing": (memory(predicate="likes", object={}), "/memories/0/object"),
    "subject without letters": (memory(subject="!!!"), "/memories/0/subject"),
    "long tag": (memory(tags=["t" * 65]), "/memories/0/tags/0"),
    "ends before it begins": (
        memory(valid_from="2025-01-02T00:00:00Z", valid_until="2025-01-01T00:00:00Z"),
        "/memories/0/valid_until",
    ),
    "ends before it was said": (
        memory(said_at="2025-01-02T00:00:00Z", valid_until="2025-01-01T00:00:00Z"),
        "/memories/0/valid_until",
    ),
    "ends before it is stored": (memory(valid_until="2025-01-01T00:00:00Z"), "/memories/0/valid_until"),
    "superseded without an end": (memory(status="superseded"), "/memories/0/valid_until"),
    "successor that is none": (
        memory(status="superseded", valid_until="2025-01-01T00:00:00Z", superseded_by="mem_x"),
        "/memories/0/superseded_by",
    ),
    "successor that is nobody's": (
        memory(
            status="superseded",
            valid_until="2026-12-01T00:00:00Z",
            superseded_by="mem_01a1f8c0283075afaf9f7de008d31f99",
        ),
        "/memories/0/superseded_by",
    ),
    "event before the year 1000": (memory(event_at="0999-01-01T00:00:00Z"), "/memories/0/event_at"),
    "last one of two": (
        {"user_id": "ana", "memories": [MEMORY, {**MEMORY, "content": "a\0"}]},
        "/memories/1/content",
    ),
}

# bytes, status, code
BAD_BYTES = {
    "nothing": (b"", 422, "invalid_request"),
    "no JSON": (b"{user_id: ana}", 400, "invalid_json"),
    "half a body": (json.dumps(TURNS).encode()[:-3], 400, "invalid_json"),
    "two bodies": (json.dumps(TURNS).encode() * 2, 400, "invalid_json"),
    "no UTF-8": (b'{"user_id": "\xff"}', 400, "invalid_json"),
    "NaN": (b'{"a": NaN}', 400, "invalid_json"),
    "a number without end": (b'{"a": ' + b"1" * 5_000 + b"}", 400, "invalid_json"),
    "infinity by size": (b'{"a": 1e999}', 422, "invalid_request"),
    "one key twice": (b'{"user_id": "a", "user_id": "b"}', 400, "invalid_json"),
    "deep": (b"[" * 100 + b"]" * 100, 422, "invalid_request"),
    "deeper than the stack": (b"[" * 100_000 + b"]" * 100_000, 400, "invalid_json"),
    "lone surrogate": (
        json.dumps(turn(content="I live \ud800 here")).encode(),
        422,
        "invalid_request",
    ),
    "over the size of a body": (b'"' + b"x" * (4 * 1024 * 1024) + b'"', 413, "too_large"),
}


@pytest.mark.parametrize(("body", "status", "code", "pointer"), BAD_TURNS.values(), ids=BAD_TURNS)
def test_bad_turns(client: APIClient, body: Any, status: int, code: str, pointer: str) -> None:
    before = rows_by_table()

    answer = client.post("/v1/turns", body)

    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == code
    assert problem["status"] == status
    assert problem["errors"][0]["pointer"] == pointer
    assert rows_by_table() == before


def test_all_invalid_values_are_named(client: APIClient) -> None:
    turns = [{"role": "user", "content": "Hello"}, {"role": 3}]
    body = {"user_id": "", "sesion_id": "monday", "turns": turns, "mode": "later", "topic": 7}
    answer = client.post("/v1/turns", body, format="json")
    assert answer.status_code == 422
    named = {each["pointer"] for each in answer.json()["errors"]}
    assert named == {"/user_id", "/session_id", "/sesion_id", "/turns/1/role", "/mode", "/topic"}


@pytest.mark.parametrize(
    ("path", "body", "known"),
    [
        ("/v1/turns", turns(user="ana"), "session_id"),
        ("/v1/turns", turn(text="x"), "occurred_at"),
        ("/v1/memories/search", {"user_id": "ana", "query": "x", "type": "fact"}, "types"),
        ("/v1/memories?user_id=ana&type=fact", None, "types"),
    ],
)
def test_an_unknown_field_is_answered_with_the_known_ones(client: APIClient, path: str, body: Any, known: str) -> None:
    answer = client.post(path, body) if body else client.get(path)

    assert answer.status_code == 422
    assert known in answer.json()["errors"][0]["message"].partition("known are ")[2].split(", ")


@pytest.mark.parametrize(("body", "pointer"), BAD_MEMORIES.values(), ids=BAD_MEMORIES)
def test_bad_memories(client: APIClient, body: Any, pointer: str) -> None:
    before = rows_by_table()

    answer = client.post("/v1/memories", body)

    assert answer.status_code == 422, answer.content
    assert answer.json()["code"] == "invalid_request"
    assert answer.json()["errors"][0]["pointer"] == pointer
    assert rows_by_table() == before


@pytest.mark.parametrize("path", ["/v1/turns", "/v1/memories"])
@pytest.mark.parametrize(("body", "status", "code"), BAD_BYTES.values(), ids=BAD_BYTES)
def test_bad_bytes(client: APIClient, path: str, body: bytes, status: int, code: str) -> None:
    before = rows_by_table()

    answer = client.generic("POST", path, body, content_type="application/json")

    assert answer.status_code == status, answer.content
    assert answer.json()["code"] == code
    assert rows_by_table() == before


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", ""]
)
def test_other_media_types(client: APIClient, kind: str) -> None:
    before = rows_by_table()

    answer = client.generic("POST", "/v1/turns", json.dumps(TURNS), content_type=kind)

    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")
    assert rows_by_table() == before


# query string, parameter
BAD_QUERIES = {
    "no user": ("/v1/memories", "user_id"),
    "unknown parameter": ("/v1/memories?user_id=ana&colour=red", "colour"),
    "unknown type": ("/v1/memories?user_id=ana&types=dream", "types"),
    "one parameter twice": ("/v1/memories?user_id=ana&user_id=bob", "user_id"),
    "NUL": ("/v1/memories?user_id=a%00b", "user_id"),
    "limit of nothing": ("/v1/memories?user_id=ana&limit=0", "limit"),
    "limit over the most": ("/v1/memories?user_id=ana&limit=1000", "limit"),
    "limit in words": ("/v1/memories?user_id=ana&limit=many", "limit"),
    "bad date": ("/v1/memories?user_id=ana&as_of=yesterday", "as_of"),
    "absurd date": ("/v1/memories?user_id=ana&since=0001-01-01T00:00:00Z", "since"),
    "bad entity": ("/v1/memories?user_id=ana&entities=me", "entities"),
    "bad cursor": ("/v1/memories?user_id=ana&cursor=x", "cursor"),
    "cursor that names no place": ("/v1/memories?user_id=ana&cursor=AAAA", "cursor"),
    # o=0&p=nonsense, as base64
    "cursor of nonsense": ("/v1/memories?user_id=ana&cursor=bz0wJnA9bm9uc2Vuc2U=", "cursor"),
    "traces without user": ("/v1/traces", "user_id"),
    "traces of no status": ("/v1/traces?user_id=ana&statuses=lost", "statuses"),
    "entities without user": ("/v1/entities", "user_id"),
}


@pytest.mark.parametrize(("path", "parameter"), BAD_QUERIES.values(), ids=BAD_QUERIES)
def test_bad_queries(client: APIClient, path: str, parameter: str) -> None:
    answer = client.get(path)

    assert answer.status_code == 422, answer.content
    assert answer.json()["code"] == "invalid_request"
    assert answer.json()["errors"][0]["parameter"] == parameter


def test_a_body_in_chunks(client: APIClient) -> None:
    before = rows_by_table()
    chunked = {"CONTENT_LENGTH": "", "HTTP_TRANSFER_ENCODING": "chunked"}

    answer = client.generic("POST", "/v1/turns", b"", content_type="application/json", **chunked)

    assert (answer.status_code, answer.json()["code"]) == (411, "length_required")
    assert rows_by_table() == before
