"""What LangGraph's stores answer: steps that every store takes, with results that can be compared."""

import asyncio
from collections.abc import Callable
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    InvalidNamespaceError,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchOp,
)

Store = Any  # a BaseStore, or AsyncMethods
Step = Callable[[Store], Any]
ANA, BO = ("memories", "ana"), ("memories", "bo")
DOG = {"text": "Ana has a dog", "n": 1, "who": {"name": "Ana", "tags": ["x", "y"]}}


class AsyncMethods:
    """The asynchronous methods of a store under the names of the synchronous ones."""

    def __init__(self, store: BaseStore, runner: asyncio.Runner) -> None:
        self.store, self.runner = store, runner

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return lambda *args, **options: self.runner.run(getattr(self.store, f"a{name}")(*args, **options))


def plain(result: Any) -> Any:
    """Return a result without times and scores."""
    if isinstance(result, list):
        found = [plain(each) for each in result]
        return sorted(found, key=repr) if found and isinstance(found[0], dict) else found
    if hasattr(result, "value"):
        return {"namespace": result.namespace, "key": result.key, "value": result.value}
    return result


def searched(**options: Any) -> Step:
    return lambda store: store.search(("memories",), **options)


def refused(step: Step) -> Step:
    def attempt(store: Store) -> str:
        try:
            return f"taken: {step(store)}"
        except (InvalidNamespaceError, ValueError) as error:
            return type(error).__name__

    return attempt


def listed(**options: Any) -> Step:
    return lambda store: store.list_namespaces(**options)


STEPS: dict[str, Step] = {
    "nothing is there": lambda store: (store.get(ANA, "dog"), store.search(ANA), store.delete(ANA, "dog")),
    "put": lambda store: [store.put(ANA, "dog", DOG), store.put(ANA, "cat", {"text": "no cat", "n": 2.5, "who": None})],
    "put of another user": lambda store: store.put(BO, "dog", {"text": "Bo has none", "n": 30, "who": {"name": "Bo"}}),
    "put deeper": lambda store: store.put((*ANA, "deep", "er"), "k", {"n": -1, "who": "text"}),
    "get": lambda store: store.get(ANA, "dog"),
    "a key that is a number": lambda store: store.get(ANA, 1),
    "search below": lambda store: store.search(ANA),
    "search of all": searched(),
    "search by a field": searched(filter={"n": 1}),
    "by fields": searched(filter={"n": 1, "text": "Ana has a dog"}),
    "by nested fields": searched(filter={"who": {"name": "Bo"}}),
    "by a list": searched(filter={"who": {"tags": ["x", "y"]}}),
    "by a part of a list": searched(filter={"who": {"tags": ["x"]}}),
    "by null": searched(filter={"who": None}),
    "by a missing field": searched(filter={"missing": "x"}),
    "equal": searched(filter={"n": {"$eq": 2.5}}),
    "not equal": searched(filter={"n": {"$ne": 1}}),
    "not equal, missing": searched(filter={"missing": {"$ne": 1}}),
    "greater": searched(filter={"n": {"$gt": 2.5}}),
    "between": searched(filter={"n": {"$gte": 1, "$lt": 30}}),
    "at most": searched(filter={"n": {"$lte": 2.5}}),
    "unknown operator": refused(searched(filter={"n": {"$in": [1]}})),
    "a page": lambda store: len(store.search(("memories",), limit=3)),
    "the last page": lambda store: len(store.search(("memories",), limit=3, offset=3)),
    "no page": searched(limit=0),
    "many": searched(limit=1_000),
    "a query finds the rest as well": searched(query="dog"),
    "namespaces": listed(prefix=("memories",)),
    "namespaces by suffix": listed(prefix=("memories",), suffix=("er",)),
    "namespaces by any label": listed(prefix=("*", "bo")),
    "namespaces to a depth": listed(prefix=("memories",), max_depth=2),
    "a page of namespaces": listed(prefix=("memories",), limit=1, offset=1),
    "an operation without conditions in a batch": lambda store: [
        len(found) > 2
        for found in store.batch([ListNamespacesOp(match_conditions=(MatchCondition("prefix", ("*",)),))])
    ],
    "a batch reads what was before": lambda store: store.batch(
        [
            PutOp(ANA, "dog", {"n": 2}),
            GetOp(ANA, "dog"),
            SearchOp(ANA, {"n": {"$lt": 3}}),
            PutOp(ANA, "dog", {"n": 3}),
            PutOp(ANA, "cat", None),
            GetOp(ANA, "cat"),
        ]
    ),
    "the last put counts": lambda store: store.search(ANA),
    "an empty batch": lambda store: store.batch([]),
    "an empty namespace": refused(lambda store: store.put((), "k", {})),
    "a label with a dot": refused(lambda store: store.put(("a.b",), "k", {})),
    "an empty label": refused(lambda store: store.get(("a", ""), "k")),
    "a label of LangGraph": refused(lambda store: store.put(("langgraph", "a"), "k", {})),
    "a label that is no text": refused(lambda store: store.search((1,))),
    "delete": lambda store: (store.delete(ANA, "dog"), store.get(ANA, "dog")),
    "what is left": searched(),
}
