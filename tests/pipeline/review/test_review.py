"""Review decisions: the predicted consequences are those in the store afterwards."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.memories.reading.memory_state import MemoryState, StoredState, remember
from apps.pipeline.core.enums import LIVE_STATUSES, LinkResolution, MemoryType, Polarity, Role, Stakes, Status
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.statement import Mention, ObjectValue, StoredMemory
from apps.pipeline.review.decisions import (
    Approve,
    Decision,
    Merge,
    ReviewContext,
    Settle,
    Validity,
    consequences_of,
    operations_of,
    shown_at,
)
from tests.pipeline.builders import MONDAY

ANA = UUID(int=11)
NOW = MONDAY + timedelta(days=100)
ALL, NONE = tuple(Stakes), ()


def day(number: int) -> datetime:
    return MONDAY + timedelta(days=number)


def known(number: int, **changes: Any) -> StoredMemory:
    """A value of lives_in, said on the given day."""
    place = f"Town{number}"
    value = StoredMemory(
        id=UUID(int=number), version=1, type=MemoryType.FACT, status=Status.ACTIVE, subject=Mention("", entity_id=ANA),
        predicate="lives_in", object=ObjectValue(literal=place), content=f"Ana lives in {place}.", canonical_hash=place,
        polarity=Polarity.POSITIVE, stateful=True, confidence=0.6, role=Role.USER, said_at=day(number),
        valid_from=day(number), confidence_parts={"source": 0.6},
    )  # fmt: skip
    return replace(value, **changes)


def pending(number: int, **changes: Any) -> StoredMemory:
    weak = {"confidence": 0.38, "confidence_parts": {"source": 0.18, "extractor": 0.2, "capped_at": 0.3}}
    return known(number, **{"status": Status.PENDING_REVIEW, **weak, **changes})


def other(number: int, **changes: Any) -> StoredMemory:
    """A memory without a slot."""
    return known(number, **{"predicate": "likes", "stateful": False, **changes})


def context_of(memories: Collection[StoredMemory], *, contradicts: Collection[int] = ()) -> ReviewContext:
    return ReviewContext(
        memories={each.id: each for each in memories},
        policy=Policy(),
        contradicts=frozenset(UUID(int=number) for number in contradicts),
    )


def effect(decision: Decision, context: ReviewContext) -> dict[UUID, StoredMemory]:
    """Return the memories in the store after a decision."""
    state = MemoryState(memories={id: StoredState(memory=each) for id, each in context.memories.items()})
    plan = WritePlan(operations=operations_of(decision, context=context))
    return {id: kept.memory for id, kept in remember(state=state, plan=plan, now=NOW).memories.items()}


def ids(*numbers: int) -> frozenset[UUID]:
    return frozenset(UUID(int=number) for number in numbers)


def settle(resolution: LinkResolution, **more: Any) -> Settle:
    return Settle(UUID(int=5), UUID(int=1), resolution, **more)


CASES: list[tuple[Decision, list[StoredMemory], list[int]]] = [
    (Approve(UUID(int=5)), [pending(5)], []),
    (Approve(UUID(int=5)), [pending(5), known(1), known(2)], []),
    (Approve(UUID(int=5)), [pending(5), known(9)], []),
    (Approve(UUID(int=5), replaces=ids(9)), [pending(5), known(9), known(1)], [9]),
    (Approve(UUID(int=5)), [pending(5, predicate="likes", stateful=False), other(1)], [1]),
    (Approve(UUID(int=5), replaces=ids(1)), [pending(5, predicate="likes", stateful=False), other(1)], [1]),
    (Approve(UUID(int=5)), [pending(5, valid_from=day(200)), known(1)], []),
    (Approve(UUID(int=5)), [pending(5, confidence=0.05, confidence_parts={"source": 0.05})], []),
    (Approve(UUID(int=5)), [pending(5, confidence_parts={"grounding": -1.0})], []),
    (Merge(UUID(int=5), into_id=UUID(int=1)), [pending(5), known(1)], []),
    (Merge(UUID(int=5), into_id=UUID(int=4)), [pending(5), pending(4), known(1)], []),
    *((settle(each), [pending(5), known(1)], []) for each in LinkResolution),
    *((settle(each), [pending(5), known(1), known(3)], []) for each in LinkResolution),
    *((settle(each), [known(5), known(1)], []) for each in LinkResolution),
    *((settle(each), [pending(5, said_at=day(0)), known(1)], []) for each in LinkResolution),
    (settle(LinkResolution.CHANGED, changed_on=day(50)), [pending(5), known(1)], []),
    (settle(LinkResolution.CHANGED, changed_on=day(150)), [pending(5), known(1)], []),
    (settle(LinkResolution.BOTH, validity={UUID(int=1): Validity(ends=day(3))}), [pending(5), known(1)], []),
]


@pytest.mark.parametrize(("decision", "memories", "contradicts"), CASES)
def test_the_prediction_is_the_effect(decision: Decision, memories: list[StoredMemory], contradicts: list[int]) -> None:
    context = context_of(memories, contradicts=contradicts)
    told, after = consequences_of(decision, context=context, now=NOW), effect(decision, context)
    policy = context.policy.retrieval
    for id, stakes in told.shown.items():
        assert shown_at(after[id], policy=policy, now=NOW) == stakes
    for ended in told.ends:
        assert (after[ended.memory.id].status, ended.memory) == (ended.status, context.memories[ended.memory.id])
        if ended.at is not None:
            assert after[ended.memory.id].valid_until == ended.at
    mine = None if isinstance(decision, Settle) else decision.memory_id
    closed = {id for id, each in after.items() if each.status not in LIVE_STATUSES and id != mine}
    assert closed <= {ended.memory.id for ended in told.ends}
    unmentioned = after.keys() - told.shown.keys() - {ended.memory.id for ended in told.ends} - {mine}
    assert all(replace(after[id], version=1) == context.memories[id] for id in unmentioned)
    if isinstance(decision, Approve):
        beside = {each for each in context.contradicts if after[each].status is Status.ACTIVE}
        is_active = after[decision.memory_id].status is Status.ACTIVE
        assert {each.id for each in told.beside} == (beside if is_active else set())


@pytest.mark.parametrize(
    ("memory", "stakes"),
    [
        (known(1, confidence=0.7), ALL),
        (known(1, confidence=0.69), (Stakes.NORMAL, Stakes.LOW)),
        (known(1, confidence=0.39), (Stakes.LOW,)),
        (known(1, confidence=0.2), NONE),
        (pending(1, confidence=0.9), (Stakes.LOW,)),
        (known(1, valid_until=NOW), NONE),
        (known(1, status=Status.REJECTED), NONE),
    ],
)
def test_the_stakes_at_which_a_memory_is_shown(memory: StoredMemory, stakes: tuple[Stakes, ...]) -> None:
    assert shown_at(memory, policy=Policy().retrieval, now=NOW) == stakes


def test_a_merge_counts_the_distinct_days_and_the_approval() -> None:
    one, into = pending(5, origins=(("s", "2025-06-01"),)), known(1, origins=(("t", "2025-06-02"),))
    merged = effect(Merge(one.id, into_id=into.id), context_of([one, into]))[into.id]
    assert merged.confidence_parts["recurrence"] == pytest.approx(0.075)
    assert merged.confidence_parts["review"] == 0.6
