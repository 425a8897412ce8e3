"""Requests of the REST API as values: what is sent, and the type of the answer. Nothing is sent here."""

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar, cast
from urllib.parse import quote

from memplatform_client import models

T = TypeVar("T")
Query = Mapping[str, Any]
LONGEST_WAIT = 30  # seconds of one request
Milestone = Literal["ended", "indexed"]  # how far a trace has come


@dataclass(frozen=True, slots=True)
class Call(Generic[T]):
    """A request whose answer is a T. `may_repeat`: sending it twice has the effect of sending it once."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    query: Query = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    may_repeat: bool = True


def write_turns(
    *,
    user_id: str,
    session_id: str,
    turns: Sequence[models.TurnBody],
    mode: models.Mode = "async",
    topic: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    agent_id: str | None = None,
    app_id: str | None = None,
    run_id: str | None = None,
    idempotency_key: str | None = None,
) -> Call[models.TurnsAcceptedResponse | models.TurnsResponse]:
    """Send turns of a session; `wait` for the trace to know what became of them.

    Mode "sync" answers with the outcome (a TurnsResponse) if processing ends in time.
    """
    said = given(user_id=user_id, session_id=session_id, turns=list(turns), mode=mode, topic=topic, metadata=metadata)
    body = said | given(agent_id=agent_id, app_id=app_id, run_id=run_id)
    return _repeatable("/v1/turns", body, idempotency_key)


def store_memories(
    *, user_id: str, memories: Sequence[models.MemoryBody], idempotency_key: str | None = None
) -> Call[models.StoredMemoriesResponse]:
    """Store memories as given, without extraction."""
    return _repeatable("/v1/memories", {"user_id": user_id, "memories": list(memories)}, idempotency_key)


def read_trace(trace_id: str, *, wait: int = 0, milestone: Milestone = "ended") -> Call[models.TraceResponse]:
    """Read what each stage did with a request, after up to `wait` seconds (at most 30) if it has not come as far.

    It has ended when its memories are found by their words, and is indexed when they are found by their meaning too.
    """
    query = given(wait=wait or None, milestone=milestone if wait else None)
    return Call("GET", f"/v1/traces/{in_path(trace_id)}", query=query)


def search(user_id: str, query: str, **filters: Any) -> Call[models.SearchResponse]:
    """Search the memories of one end user, best first; `filters` are further fields of SearchBody."""
    return Call("POST", "/v1/memories/search", body={"user_id": user_id, "query": query, **filters})


def build_context(
    user_id: str,
    query: str = "",
    *,
    token_budget: int = 1_000,
    stakes: models.Stakes = "normal",
    min_score: float | None = None,
    agent_id: str | None = None,
    app_id: str | None = None,
    run_id: str | None = None,
) -> Call[models.ContextResponse]:
    """Build a text block about an end user for an agent's prompt."""
    asked = given(user_id=user_id, query=query, token_budget=token_budget, stakes=stakes, min_score=min_score)
    body = asked | given(agent_id=agent_id, app_id=app_id, run_id=run_id)
    return Call("POST", "/v1/context", body=body)


def list_memories(
    *, user_id: str | None = None, cursor: str | None = None, limit: int = 50, **filters: Any
) -> Call[models.MemoryList]:
    """List memories, newest first; `filters` are further query parameters, such as `types`, `tags` and `filter`."""
    query = given(user_id=user_id, cursor=cursor, limit=limit, **filters)
    if isinstance(query.get("filter"), Mapping):
        query["filter"] = json.dumps(query["filter"])
    return Call("GET", "/v1/memories", query=query)


def read_memory(memory_id: str) -> Call[models.MemoryDetailResponse]:
    """Read a memory with its source turns and links."""
    return Call("GET", f"/v1/memories/{in_path(memory_id)}")


def read_history(memory_id: str) -> Call[models.HistoryResponse]:
    """Read the past versions of a memory and who changed it."""
    return Call("GET", f"/v1/memories/{in_path(memory_id)}/history")


def revise_memory(
    memory_id: str, changes: models.RevisionBody, *, version: int | None = None
) -> Call[models.MemoryResponse]:
    """Change fields of a memory; with `version`, only if it is still at that version."""
    path = f"/v1/memories/{in_path(memory_id)}"
    return Call("PATCH", path, body=dict(changes), headers=_if_match(version), may_repeat=False)


def retract_memory(memory_id: str, *, version: int | None = None) -> Call[None]:
    """Retract a memory: it is no longer returned, and its history stays."""
    return Call("DELETE", f"/v1/memories/{in_path(memory_id)}", headers=_if_match(version))


def list_entities(
    *, user_id: str | None = None, types: Sequence[models.EntityType] = (), cursor: str | None = None, limit: int = 50
) -> Call[models.EntityList]:
    """List the people, places and things that memories refer to, newest first."""
    return Call("GET", "/v1/entities", query=given(user_id=user_id, types=list(types), cursor=cursor, limit=limit))


def list_traces(
    *,
    user_id: str | None = None,
    session_id: str | None = None,
    statuses: Sequence[models.TraceStatus] = (),
    cursor: str | None = None,
    limit: int = 50,
) -> Call[models.TraceList]:
    """List traces, newest first."""
    query = given(user_id=user_id, session_id=session_id, statuses=list(statuses), cursor=cursor, limit=limit)
    return Call("GET", "/v1/traces", query=query)


def put_item(
    *,
    namespace: Sequence[str],
    key: str,
    value: Mapping[str, Any],
    user_id: str | None = None,
    session_id: str | None = None,
    text: str | None = None,
    ttl_minutes: float | None = None,
    expected_version: int | None = None,
) -> Call[models.ItemResponse]:
    """Store JSON under a namespace and a key, in place of what is there.

    `user_id` says whose data it is, `session_id` with which session it is deleted.
    """
    body = given(
        namespace=list(namespace),
        key=key,
        value=value,
        user_id=user_id,
        session_id=session_id,
        text=text,
        ttl_minutes=ttl_minutes,
        expected_version=expected_version,
    )
    return Call("PUT", "/v1/items", body=body, may_repeat=expected_version is None)


def read_item(*, namespace: Sequence[str], key: str, refresh_ttl: bool = True) -> Call[models.ItemResponse]:
    """Read an item; reading one that expires lets it live on."""
    query = {"namespace": list(namespace), "key": key, "refresh_ttl": str(refresh_ttl).lower()}
    return Call("GET", "/v1/items", query=query)


def delete_item(*, namespace: Sequence[str], key: str) -> Call[None]:
    """Delete an item for good."""
    return Call("DELETE", "/v1/items", query={"namespace": list(namespace), "key": key})


def search_items(*, namespace_prefix: Sequence[str] = (), **filters: Any) -> Call[models.ItemList]:
    """Find items below a namespace; `filters` are further fields of ItemSearchBody, such as `filter` and `query`."""
    return Call("POST", "/v1/items/search", body={"namespace_prefix": list(namespace_prefix), **filters})


def list_item_namespaces(
    *, prefix: Sequence[str] = (), suffix: Sequence[str] = (), max_depth: int | None = None, limit: int = 50
) -> Call[models.NamespaceList]:
    """List the namespaces that hold items, sorted."""
    body = given(prefix=list(prefix), suffix=list(suffix), max_depth=max_depth, limit=limit)
    return Call("POST", "/v1/items/namespaces", body=body)


def run_item_operations(*, operations: Sequence[Mapping[str, Any]]) -> Call[models.ItemOutcomesResponse]:
    """Carry out several operations on items, all of them or none; those that read see what was before."""
    differs = any(each["operation"] == "pop" or "expected_version" in each for each in operations)
    return Call("POST", "/v1/items/batch", body={"operations": list(operations)}, may_repeat=not differs)


def read_current_key() -> Call[models.CurrentKeyResponse]:
    """Read what the key of this client may do, and in which project."""
    return Call("GET", "/v1/keys/current")


def erase_user(user_id: str) -> Call[models.ErasureResponse]:
    """Erase an end user with all data (scope admin)."""
    return Call("DELETE", f"/v1/users/{in_path(user_id)}")


def list_events(
    *, after: int = 0, types: Sequence[str] = (), includes_content: bool = False, limit: int = 100
) -> Call[models.EventList]:
    """Read events on from a number, oldest first (scope admin); `events` follows them as they happen."""
    query = given(after=after, types=list(types) or None, includes_content=includes_content or None, limit=limit)
    return Call("GET", "/v1/events", query=query)


def request(
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"],
    path: str,
    *,
    query: Query | None = None,
    body: Any = None,
    headers: Mapping[str, str] | None = None,
) -> Call[Any]:
    """Call any operation of the API, such as GET /v1/stats; an answer that is not JSON, such as an export, is text."""
    may_repeat = method in ("GET", "PUT", "DELETE")
    return Call(method, path, query=query or {}, body=body, headers=headers or {}, may_repeat=may_repeat)


def _repeatable(path: str, body: Mapping[str, Any], idempotency_key: str | None) -> Call[Any]:
    return Call("POST", path, body=body, headers={"Idempotency-Key": idempotency_key or str(uuid.uuid4())})


def given(**values: Any) -> dict[str, Any]:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def _if_match(version: int | None) -> dict[str, str]:
    return {} if version is None else {"If-Match": f'"{version}"'}


def in_path(identifier: str) -> str:
    """Return an identifier as a part of a path."""
    return quote(identifier, safe="", errors="replace")


def answer(content: Any, of: "Call[T]") -> T:
    """Return the decoded answer as the type of its call."""
    return cast(T, content)
