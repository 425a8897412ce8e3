"""Any text in any field of any endpoint is accepted, cleaned or refused with a problem; never an internal error."""

import json
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import pytest
from rest_framework.test import APIClient

from apps.actions.keys.create_key import create_key
from apps.pipeline.core.enums import Scope
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.worker.drain import drain
from tests.conftest import calling_with
from tests.hostile_texts import NAUGHTY_STRINGS, hostile_cases, hostile_texts

Path = tuple[Any, ...]  # keys and indices within a JSON value

TURN = {"role": "user", "content": "I live in Lisbon."}
TURNS = {"user_id": "ana", "session_id": "s", "turns": [TURN], "topic": "t", "metadata": {"k": "v"}}
MEMORY = {
    "type": "fact",
    "content": "Ana lives in Lisbon.",
    "subject": "Ana",
    "predicate": "lives_in",
    "topic": "t",
    "tags": ["t"],
    "language": "en",
    "metadata": {"k": "v"},
    "session_id": "s",
    "evidence": "e",
    "context": "c",
    "extractor": "e",
    "said_at": "2026-01-01T00:00:00Z",
    "object": {"literal": "Lisbon"},
}
SEARCH = {
    "user_id": "ana",
    "query": "q",
    "topics": ["t"],
    "tags": ["t"],
    "entities": ["ent_x"],
    "metadata": {"k": "v"},
    "from": "2026-01-01",
    "as_of": "2026-01-01",
}
BODIES: dict[str, dict[str, Any]] = {
    "/v1/turns": TURNS,
    "/v1/memories": {"user_id": "ana", "memories": [MEMORY]},
    "/v1/memories/search": SEARCH,
    "/v1/context": {"user_id": "ana", "query": "q"},
    "/v1/sessions/s/end": {"user_id": "ana"},
    "/v1/keys": {"name": "n", "scopes": ["read"], "expires_at": "2030-01-01T00:00:00Z"},
    "/v1/work/retry": {"status": ["dead"], "error": "e", "user_id": "ana"},
}
QUERIES = {
    "/v1/memories": (
        "user_id",
        "type",
        "topic",
        "tag",
        "status",
        "entity",
        "from",
        "as_of",
        "known_at",
        "cursor",
        "limit",
    ),
    "/v1/traces": ("user_id", "session_id", "status", "cursor", "limit"),
    "/v1/entities": ("user_id", "type", "cursor", "limit"),
    "/v1/keys": ("cursor", "limit"),
    "/v1/stats": ("day", "days", "from", "to"),
}


@pytest.fixture
def caller(project: Project) -> APIClient:
    return calling_with(create_key(project_id=project.id, name="k", scopes=[Scope.ADMIN]).text)


def strings_of(value: Any, at: Path = ()) -> Iterator[Path]:
    """Yield where the strings of a JSON value are."""
    if isinstance(value, str):
        yield at
    elif isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from strings_of(inner, (*at, key))


def with_text(value: Any, at: Path, text: str) -> Any:
    """Return a copy of a JSON value with another text at a place."""
    if not at:
        return text
    copied = copy(value)
    copied[at[0]] = with_text(value[at[0]], at[1:], text)
    return copied


def is_answered(answer: Any) -> bool:
    return bool(answer.status_code < 500 and (answer.status_code < 400 or answer.json()["code"]))


def test_the_naughty_strings_are_there() -> None:
    if not NAUGHTY_STRINGS.is_file():
        pytest.skip(f"no {NAUGHTY_STRINGS}: only our own hostile texts are tried")
    assert len(hostile_texts()) > 500


def test_text_in_bodies(caller: APIClient) -> None:
    places = [(path, at) for path, body in BODIES.items() for at in strings_of(body)]
    for (path, at), text in hostile_cases(places):
        answer = post(caller, path, with_text(BODIES[path], at, text))
        assert is_answered(answer), (path, at, text, answer.content)


def post(caller: APIClient, path: str, body: Any) -> Any:
    """Post a body whose lone surrogates are escaped: JSON can carry them in no other way."""
    return caller.generic("POST", path, json.dumps(body), content_type="application/json")


def test_text_in_queries(caller: APIClient) -> None:
    places = [(path, name) for path, names in QUERIES.items() for name in names]
    for (path, name), text in hostile_cases(places):
        sent = text.encode(errors="surrogatepass")
        answer = caller.get(path, {"user_id": "ana", name: sent} if path != "/v1/keys" else {name: sent})
        assert is_answered(answer), (path, name, text, answer.content)


@pytest.mark.django_db(transaction=True)
def test_no_turn_kills_its_run(caller: APIClient) -> None:
    """Accepted texts are processed: a text that breaks a stage would leave a dead trace."""
    for user, texts in enumerate(batched(hostile_texts(), 40)):
        turns = [turn_with(text, number) for number, text in enumerate(texts)]
        answer = post(caller, "/v1/turns", {"user_id": f"user {user}", "session_id": "s", "turns": turns})
        assert answer.status_code == 202, answer.content
    drain()
    assert set(Trace.objects.values_list("status", flat=True)) == {"done"}


def turn_with(text: str, number: int) -> dict[str, str]:
    """Return a turn with a hostile text that its request takes: the API refuses NUL and lone surrogates."""
    taken = text.replace("\0", "").encode(errors="ignore").decode()
    return {"role": "user", "content": f"I like {taken}. My locker number is {number}."}


def batched(texts: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Yield the texts in batches."""
    yield from (texts[start : start + size] for start in range(0, len(texts), size))
