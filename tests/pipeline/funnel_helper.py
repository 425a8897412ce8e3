"""Run sessions of one end user through all stages, with the in-memory store."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Origin, Request
from apps.pipeline.core.enums import Role
from apps.pipeline.core.plan import plan_from
from apps.pipeline.core.policy import ExtractionPolicy, Policy, PreFilterPolicy
from apps.pipeline.core.ports import Embedder, Model
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.default_rules import default_rules
from tests.pipeline.builders import CountedIds, ports_of

USER = UUID(int=2)


def settled(
    sessions: Iterable[Mapping[str, Any]], *, store: InMemoryStore, embedder: Embedder, model: Model
) -> Iterator[Draft]:
    """Yield the draft of each session after it is written; a session is one request, extracted by a model."""
    ids = CountedIds()
    ports = ports_of(store, new_id=ids.new, embedder=embedder, model=model)
    policy = Policy(pre_filter=PreFilterPolicy(rules=default_rules()), extraction=ExtractionPolicy())
    for session in sessions:
        origin = Origin(project_id=UUID(int=1), end_user_id=USER, session_id=ids.new())
        turns = tuple(_turn(each, place, ids.new()) for place, each in enumerate(session["turns"]))
        request = Request(trace_id=ids.new(), origin=origin, turns=turns)
        (extracted,) = flow.extract([flow.screen(Draft.start(request=request, policy=policy))], ports)
        draft = flow.settle(extracted, ports)
        store.apply(draft=draft, plan=plan_from(draft))
        _index(store, draft, embedder)
        yield draft


def _turn(told: Mapping[str, Any], place: int, turn_id: UUID) -> SourceTurn:
    said_at = datetime.fromisoformat(told["occurred_at"])
    role = Role(told["role"])
    return SourceTurn(
        id=turn_id, position=place, role=role, content=told["content"], received_at=said_at, occurred_at=said_at
    )


def _index(store: InMemoryStore, draft: Draft, embedder: Embedder) -> None:
    ids = list(dict.fromkeys(ruling.memory_id for ruling in draft.rulings))
    memories = store.state(end_user_id=USER).memories
    for each, vector in zip(ids, embedder.embed([memories[each].memory.content for each in ids]), strict=True):
        store.put_vector(end_user_id=USER, memory_id=each, embedder=embedder.name, vector=vector)
