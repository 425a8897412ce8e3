"""The answer to any body is a success or a documented problem, never an internal error."""

from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from apps.api.problems import STATUS_AND_TITLE

KNOWN = {(status, code.value) for code, (status, _) in STATUS_AND_TITLE.items() if status < 500}

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["user", "fact", "active", "2025-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "mem_0", "\0"]),
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
BODIES: dict[str, dict[str, Any]] = {
    "/v1/turns": {
        "user_id": "ana",
        "session_id": "monday",
        "mode": "async",
        "topic": "t",
        "metadata": {},
        "turns": [
            {"role": "user", "content": "I live in Lisbon.", "speaker": "Ana", "turn_id": "1", "occurred_at": None}
        ],
    },
    "/v1/memories": {
        "user_id": "ana",
        "memories": [
            {
                "type": "fact",
                "content": "Ana lives in Lisbon.",
                "subject": "Ana",
                "predicate": "lives_in",
                "object": {"literal": "Lisbon"},
                "valid_until": None,
                "expires_at": None,
                "event_at": None,
                "said_at": None,
                "status": None,
                "superseded_by": None,
                "confidence": 1,
                "tags": [],
                "metadata": {},
                "session_id": "s",
            }
        ],
    },
    "/v1/memories/search": {"user_id": "ana", "query": "x", "as_of": None, "types": [], "tags": [], "limit": 1},
    "/v1/context": {"user_id": "ana", "query": "x", "token_budget": 10},
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value in a body, the body itself first."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, each in inner for place in places(each, (*path, key)))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.mark.parametrize("address", BODIES)
@given(data=st.data())
def test_one_value_replaced_by_anything(client: APIClient, address: str, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(places(BODIES[address])))
    body = replaced(BODIES[address], place, data.draw(ANYTHING))

    answer = client.post(address, body)

    if answer.status_code >= 300:
        assert (answer.status_code, answer.json()["code"]) in KNOWN


@pytest.mark.parametrize("path", ["/v1/memories", "/v1/traces", "/v1/entities"])
@given(data=st.data())
def test_any_query(client: APIClient, path: str, data: st.DataObject) -> None:
    names = [
        "user_id",
        "type",
        "status",
        "entity",
        "since",
        "until",
        "as_of",
        "cursor",
        "limit",
        "tag",
        "topic",
        "session_id",
    ]
    query = data.draw(st.dictionaries(st.sampled_from(names), st.text(max_size=12), max_size=4))

    answer = client.get(path, {"user_id": "ana", **query})

    if answer.status_code >= 300:
        assert (answer.status_code, answer.json()["code"]) in KNOWN


@given(identifier=st.text(min_size=1, max_size=40).filter(lambda text: text.strip("./") and not text.endswith("/")))
def test_any_identifier(client: APIClient, identifier: str) -> None:
    for kind in ("memories", "traces", "entities"):
        answer = client.get(f"/v1/{kind}/x{quote(identifier, safe='')}")
        assert answer.status_code == 404


@pytest.mark.parametrize(
    ("path", "detail"),
    [
        ("/v1/entities/x/0", "no such URL; the one that ends with a slash is known"),
        ("/v3/memories", "no such URL; the one that ends with a slash is known"),
        ("/v2/memories/x", "no such URL"),
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_an_address_with_a_slash_too_few_is_unknown(client: APIClient, method: str, path: str, detail: str) -> None:
    answer = getattr(client, method)(path)

    assert (answer.status_code, answer.json()["code"], answer.json()["detail"]) == (404, "not_found", detail)


def test_what_is_no_identifier_is_named(client: APIClient) -> None:
    answer = client.get("/v1/memories/mem_123")

    assert (answer.status_code, answer.json()["detail"]) == (404, "'mem_123' is no mem_ identifier")
