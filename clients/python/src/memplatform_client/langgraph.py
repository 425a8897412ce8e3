"""LangGraph's store on the items of a server: `graph.compile(store=MemplatformStore(Client()))`."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    NamespacePath,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)

from memplatform_client.async_client import AsyncClient
from memplatform_client.calls import run_item_operations
from memplatform_client.client import Client
from memplatform_client.steps import Steps, run, run_async

Namespace = tuple[str, ...]
UserOf = Callable[[Namespace], str | None]
PAGE = 200  # items of one answer, and operations of one request
OPERATORS = frozenset(("$eq", "$ne", "$gt", "$gte", "$lt", "$lte"))


class MemplatformStore(BaseStore):
    """A store whose items the server keeps.

    `user_of` returns the end user whose data is under a namespace, with whom its items are exported and erased.
    A search with a query puts items first that share words with it, by their stems; no vectors are compared. `batch`
    needs `client`, `abatch` `async_client`. Items expire as `ttl` says, or `ttl_config` for all.
    """

    supports_ttl = True
    __slots__ = ("_async_client", "_client", "_user_of", "ttl_config")

    def __init__(
        self,
        client: Client | None = None,
        *,
        async_client: AsyncClient | None = None,
        user_of: UserOf | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._client = client
        self._async_client = async_client
        self._user_of = user_of
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: those that read see the items from before the puts."""
        if self._client is None:
            raise TypeError("the synchronous methods of the store need a client")
        return run(_requests(list(ops), self._user_of), self._client)

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Carry out operations: those that read see the items from before the puts."""
        if self._async_client is None:
            raise TypeError("the asynchronous methods of the store need an async_client")
        return await run_async(_requests(list(ops), self._user_of), self._async_client)


def _requests(ops: list[Op], user_of: UserOf | None) -> Steps[list[Result]]:
    """Yield the requests that carry out operations, take their answers, and return the results.

    Usually it is one request; a search for more items than a page takes further ones, before anything is written.
    """
    for op in ops:
        validate_op_namespace(op)
    puts = {(op.namespace, op.key): _put(op, user_of) for op in ops if isinstance(op, PutOp)}
    reads = {place: _read(op) for place, op in enumerate(ops) if not isinstance(op, PutOp)}
    reads = {place: read for place, read in reads.items() if read.get("limit", 1) > 0}
    results: list[Result] = [[] if isinstance(op, SearchOp | ListNamespacesOp) else None for op in ops]
    later = list(puts.values())
    if len(reads) + len(later) <= PAGE and all(read.get("limit", 1) <= PAGE for read in reads.values()):
        together = [*reads.values(), *later]
        answer = (yield run_item_operations(operations=together))["results"] if together else []
        for place, outcome in zip(reads, answer[: len(reads)], strict=True):
            results[place] = _result(ops[place], outcome)
        return results
    for place, read in reads.items():
        results[place] = yield from _paged(ops[place], read)
    for first in range(0, len(later), PAGE):
        yield run_item_operations(operations=later[first : first + PAGE])
    return results


def _paged(op: Op, read: Mapping[str, Any]) -> Steps[Result]:
    """Read what one page does not hold."""
    wanted = read.get("limit", 1)
    found: list[Any] = []
    while True:
        page = {**read, "offset": read.get("offset", 0) + len(found)} if "limit" in read else {**read}
        if "limit" in read:
            page["limit"] = min(PAGE, wanted - len(found))
        (outcome,) = (yield run_item_operations(operations=[page]))["results"]
        result = _result(op, outcome)
        if not isinstance(result, list):
            return result
        found += result
        if len(result) < page["limit"] or len(found) >= wanted:
            return found


def _read(op: Op) -> dict[str, Any]:
    """Return the operation of the API that reads what an operation of the store does."""
    if isinstance(op, GetOp):
        return {"operation": "get", "namespace": op.namespace, "key": op.key, "refresh_ttl": op.refresh_ttl}
    if isinstance(op, SearchOp):
        _check_operators(op.filter or {})
        return {
            "operation": "search",
            "namespace_prefix": op.namespace_prefix,
            "filter": op.filter or {},
            "query": op.query or "",
            "limit": op.limit,
            "offset": op.offset,
            "refresh_ttl": op.refresh_ttl,
        }
    if isinstance(op, ListNamespacesOp):
        return _namespaces(op)
    raise ValueError(f"Unknown operation type: {type(op)}")


def _namespaces(op: ListNamespacesOp) -> dict[str, Any]:
    paths: dict[str, NamespacePath] = {}
    for condition in op.match_conditions or ():
        if condition.match_type in paths or condition.match_type not in ("prefix", "suffix"):
            raise ValueError(f"Unsupported match condition: {condition}")
        paths[condition.match_type] = condition.path
    return {
        "operation": "list_namespaces",
        **paths,
        **({} if op.max_depth is None else {"max_depth": op.max_depth}),
        "limit": op.limit,
        "offset": op.offset,
    }


def _put(op: PutOp, user_of: UserOf | None) -> dict[str, Any]:
    place = {"namespace": op.namespace, "key": op.key}
    if op.value is None:
        return {"operation": "delete", **place}
    value = dict(op.value)
    put: dict[str, Any] = {"operation": "put", **place, "value": value}
    if op.ttl is not None:
        put["ttl_minutes"] = op.ttl
    if op.index is not None:
        put["text"] = " ".join(text for path in op.index or () for text in get_text_at_path(value, tokenize_path(path)))
    if user_of is not None:
        put["user_id"] = _user_under(op.namespace, user_of)
    return put


def _user_under(namespace: Namespace, user_of: UserOf) -> str | None:
    """Return whose data is under a namespace. Raises ValueError for one that `user_of` was not made for."""
    expected = "user_of must return the end user of each namespace, or None for data of nobody"
    try:
        user_id = user_of(namespace)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError(f"user_of failed for the namespace {namespace!r} ({error}); {expected}") from error
    if not (user_id is None or isinstance(user_id, str)):
        raise ValueError(f"user_of returned {user_id!r} for the namespace {namespace!r}; {expected}")
    return user_id


def _check_operators(given: Any) -> None:
    for name, inner in given.items() if isinstance(given, dict) else ():
        if name.startswith("$") and name not in OPERATORS:
            raise ValueError(f"Unsupported operator: {name}")
        _check_operators(inner)


def _result(op: Op, outcome: Mapping[str, Any]) -> Result:
    if isinstance(op, ListNamespacesOp):
        return [tuple(labels) for labels in outcome["namespaces"]]
    if isinstance(op, SearchOp):
        return [SearchItem(**_fields(item), score=item["score"]) for item in outcome["items"]]
    return Item(**_fields(outcome["item"])) if outcome["item"] else None


def _fields(item: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "namespace": tuple(item["namespace"]),
        "key": item["key"],
        "value": item["value"],
        "created_at": datetime.fromisoformat(item["created_at"]),
        "updated_at": datetime.fromisoformat(item["updated_at"]),
    }
