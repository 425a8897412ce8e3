"""Any text in any field of any endpoint is accepted, cleaned or refused with a problem; never an internal error."""

import json
import re
from collections.abc import Iterator, Sequence
from copy import copy
from functools import cache
from typing import Any
from urllib.parse import quote

import pytest
from drf_spectacular.generators import SchemaGenerator
from rest_framework.test import APIClient

from apps.pipeline.core.enums import Scope
from apps.projects.api_keys import create_key
from apps.tenants.models import Project
from apps.traces.models import Trace
from apps.worker.work import work as drain
from tests.conftest import calling_with
from tests.hostile_texts import NAUGHTY_STRINGS, OWN, hostile_cases, hostile_texts, listed_texts, sampled

Path = tuple[Any, ...]  # keys and indices within a JSON value

TURN = {"role": "user", "content": "I live in Lisbon."}
SCOPE = {"agent_id": "a", "app_id": "p", "run_id": "r"}
TURNS = {"user_id": "ana", "session_id": "s", "turns": [TURN], "topic": "t", "metadata": {"k": "v"}} | SCOPE
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
    "agent_id": "a",
}
SEARCH = {
    "user_id": "ana",
    "query": "q",
    "topics": ["t"],
    "tags": ["t"],
    "entities": ["ent_x"],
    "metadata": {"k": "v"},
    "since": "2026-01-01",
    "as_of": "2026-01-01",
    "filter": {"OR": [{"topic": {"icontains": "t"}}, {"metadata.k": {"lt": "v"}}, {"said_at": {"gt": "2026-01-01"}}]},
}
REVISION = {
    "content": "Ana lives in Porto.",
    "object": {"literal": "Porto"},
    "topic": "t",
    "tags": ["t"],
    "metadata": {"k": "v"},
    "event_at": "2026-01-01T00:00:00Z",
    "event_precision": "day",
    "valid_until": "2026-01-01T00:00:00Z",
    "status": "active",
}
# Method and path, as the OpenAPI document has them -> a body with a text in each field that takes one.
CHOICE = {
    "user_id": "ana",
    "session_id": "s",
    "since": "2026-01-01",
    "until": "2026-02-01T00:00:00Z",
    "trace_ids": ["trc_x"],
}
ITEM = {"namespace": ["a"], "key": "k", "value": {"f": "x"}, "user_id": "ana", "text": "t"}
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("post", "/v1/turns"): TURNS,
    ("post", "/v1/memories"): {"user_id": "ana", "memories": [MEMORY]},
    ("post", "/v1/memories/batch"): {"user_id": "ana", "memories": [MEMORY]},
    ("patch", "/v1/memories"): {"memories": [{"id": "mem_x"} | REVISION]},
    ("patch", "/v1/memories/{memory_id}"): REVISION,
    ("post", "/v1/memories/search"): SEARCH,
    ("post", "/v1/context"): {"user_id": "ana", "query": "q", "stakes": "normal"} | SCOPE,
    ("put", "/v1/items"): ITEM,
    ("post", "/v1/items/search"): {"namespace_prefix": ["a"], "filter": {"f": {"$gt": "x"}}, "query": "q"},
    ("post", "/v1/items/namespaces"): {"prefix": ["a"], "suffix": ["b"]},
    ("post", "/v1/items/batch"): {
        "operations": [{"operation": "put", **ITEM}, {"operation": "pop", "namespace": ["a"]}]
    },
    ("post", "/v1/sessions/{session_id}/end"): {"user_id": "ana"},
    ("patch", "/v1/configuration"): {
        "version": 1,
        "settings": {"pre_filter": {"rules": [{"name": "n", "reason": "pattern", "pattern": "x"}]}},
        "note": "n",
    },
    ("post", "/v1/configuration/activate"): {"draft": 2, "version": 1},
    ("post", "/v1/keys"): {"name": "n", "scopes": ["read"], "expires_at": "2030-01-01T00:00:00Z"},
    ("post", "/v1/work/retry"): {"statuses": ["dead"], "error": "e", "user_id": "ana"},
    ("post", "/v1/entities/{entity_id}/merge"): {"into": "ent_x"},
    ("post", "/v1/links/{link_id}/settle"): {"resolution": "both", "changed_on": "2026-01-01"},
    ("post", "/v1/rollbacks"): {"selection": CHOICE | {"key_id": "key_x"}, "force": ["mem_x"], "note": "n"},
    ("post", "/v1/replays"): {"traces": CHOICE},
    ("post", "/v1/imports"): {"file_name": "f", "format": "mem0", "user_id": "ana", "users": {"a": "b"}},
    ("post", "/v1/alerts/{alert_id}/acknowledge"): {"note": "n"},
    ("put", "/v1/alert-recipients"): {"webhook_url": "https://example.com/", "mail_addresses": ["a@example.com"]},
    ("put", "/v1/events/log"): {"is_on": True},
    ("post", "/v1/webhooks"): {"name": "n", "url": "https://example.com/", "event_types": ["memory.created"]},
    ("patch", "/v1/webhooks/{webhook_id}"): {
        "name": "n",
        "url": "https://example.com/",
        "event_types": ["user.erased"],
    },
    ("post", "/v1/webhooks/{webhook_id}/rotate"): {"ends_at_once": False},
    ("post", "/v1/webhooks/{webhook_id}/send-again"): {"delivery_id": "dlv_x", "since": "2026-01-01T00:00:00Z"},
    ("post", "/v1/evaluation/samples"): {"since": "2026-01-01", "until": "2026-02-01T00:00:00Z"},
    ("post", "/v1/evaluation/items/{item_id}/labels"): {"value": "good"},
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


@cache
def document() -> dict[str, dict[str, Any]]:
    """Return the operations of the OpenAPI document by path and method."""
    paths: dict[str, dict[str, Any]] = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    return paths


def test_every_body_of_the_document_is_tried() -> None:
    documented = {(method, path) for path, found in document().items() for method in found}
    bodies = {call: document()[call[1]][call[0]].get("requestBody", {"content": {}}) for call in documented}
    with_body = {call for call, body in bodies.items() if "application/json" in body["content"]}
    assert with_body == BODIES.keys()


@pytest.fixture
def memory_id(caller: APIClient) -> str:
    stored = caller.post("/v1/memories", {"user_id": "ana", "memories": [MEMORY]})
    return str(stored.json()["results"][0]["id"])


def test_text_in_bodies(caller: APIClient, memory_id: str) -> None:
    places = [(call, at) for call, body in BODIES.items() for at in strings_of(body)]
    for (call, at), text in hostile_cases(places):
        method, path = call
        body = with_text(BODIES[call], at, text)
        answer = send(caller, method, path.format(memory_id=memory_id, **SOMETHING), body)
        assert is_answered(answer), (call, at, text, answer.content)


def send(caller: APIClient, method: str, path: str, body: Any) -> Any:
    """Send a body whose lone surrogates are escaped: JSON can carry them in no other way."""
    return caller.generic(method.upper(), path, json.dumps(body), content_type="application/json")


SOMETHING = {
    "session_id": "s",
    "entity_id": "ent_x",
    "link_id": "lnk_x",
    "alert_id": "alr_x",
    "item_id": "itm_x",
    "import_id": "imp_x",
    "webhook_id": "whk_x",
}


def test_text_in_addresses_and_headers(caller: APIClient) -> None:
    """In each parameter of the document, those in the path, the query and headers."""
    places = [
        (method, path, parameter["in"], parameter["name"])
        for path, found in document().items()
        for method, operation in found.items()
        for parameter in operation.get("parameters", ())
    ]
    assert {where for _, _, where, _ in places} == {"path", "query", "header"}
    for (method, path, where, name), text in hostile_cases(places):
        answer = ask(caller, method, path, where=where, name=name, text=text)
        assert is_answered(answer), (method, path, name, text, answer.content)


def ask(caller: APIClient, method: str, path: str, *, where: str, name: str, text: str) -> Any:
    """Send a request with a text in one parameter; the others in its path and query are plain."""
    plain = re.findall(r"{(\w+)}", path)
    quoted = quote(text.encode(errors="surrogatepass"), safe="")
    address = path.format(**{each: quoted if (where, each) == ("path", name) else "x" for each in plain})
    query = [f"{name}={quoted}"] if where == "query" else []
    if any(each["name"] == "user_id" != name and each["in"] == "query" for each in parameters(method, path)):
        query.append("user_id=ana")
    # Servers hand headers over as Latin-1, and refuse line breaks and NUL themselves.
    sent = text.encode(errors="replace").decode("latin-1").translate({0: None, 10: None, 13: None})
    headers = {name: sent} if where == "header" else {}
    address = "?".join((address, "&".join(query))) if query else address
    body = json.dumps(BODIES.get((method, path), {}))
    return caller.generic(method.upper(), address, body, content_type="application/json", headers=headers)


def parameters(method: str, path: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document()[path][method].get("parameters", [])
    return found


@pytest.mark.django_db(transaction=True)
def test_no_turn_kills_its_run(caller: APIClient) -> None:
    """Accepted texts are processed: a text that breaks a stage would leave a dead trace."""
    for user, texts in enumerate(batched([*OWN, *sampled(listed_texts())], 40)):
        turns = [turn_with(text, number) for number, text in enumerate(texts)]
        answer = send(caller, "post", "/v1/turns", {"user_id": f"user {user}", "session_id": "s", "turns": turns})
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
