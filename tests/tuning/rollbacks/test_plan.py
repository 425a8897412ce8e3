"""What a rollback does to one memory, as a table: who says it, who has changed it, and what becomes of it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.memories.models import Entity, EntityChange, MemoryLink, MemoryOrigin, MemoryVersion
from apps.pipeline.core.enums import EntityChangeKind, LeftAlone, LinkKind, LinkStatus, MemoryType, Role, Status
from apps.pipeline.core.operations import CountAlias, MarkOrigins, ReviseEntity, ReviseMemory, SetLinkStatus
from apps.pipeline.core.policy import ConfidencePolicy
from apps.pipeline.core.statement import StoredMemory
from apps.tuning.rollbacks.planning import (
    EntityHistory,
    MemoryHistory,
    RollbackPlan,
    UserHistory,
    plan_rollback,
)
from tests.pipeline.builders import MONDAY

OURS, OTHER = UUID(int=1), UUID(int=2)
MEMORY, NEIGHBOUR, ENTITY = UUID(int=11), UUID(int=12), UUID(int=21)


def memory(identifier: UUID = MEMORY, **changes: Any) -> StoredMemory:
    given: dict[str, Any] = {
        "id": identifier,
        "type": MemoryType.FACT,
        "content": f"User naps {identifier.int} times.",
        "version": 3,
        "status": Status.ACTIVE,
        "canonical_hash": identifier.hex,
        "confidence": 0.8,
        "role": Role.USER,
        "said_at": MONDAY,
        "valid_from": MONDAY,
        "confidence_parts": {"source": 0.6, "extractor": 0.2, "recurrence": 0.075},
    }
    return StoredMemory(**{**given, **changes})


def origin(trace: UUID, day: int = 0) -> MemoryOrigin:
    said, turn = MONDAY + timedelta(days=day), UUID(int=trace.int + 100)
    return MemoryOrigin(
        turn_id=turn, trace_id=trace, session_id=UUID(int=31), said_at=said, role=Role.USER, evidence="I nap."
    )


def merged_by(trace: UUID, **replaced: Any) -> MemoryVersion:
    return MemoryVersion(version=1, operation="merged", values=replaced, trace_id=trace)


EDIT = MemoryVersion(version=2, operation="revised", values={"content": "User naps."}, actor="person:7")


def rolled_back(history: MemoryHistory, *, forced: bool = False, **more: Any) -> RollbackPlan:
    given: dict[str, Any] = {"memories": (history,), "live": (history.memory,), **more}
    forced_ids = {history.memory.id} if forced else set()
    return plan_rollback(UserHistory(**given), traces={OURS}, forced=forced_ids, policy=ConfidencePolicy())


OWN = MemoryHistory(memory(), added_by=OURS, origins=(origin(OURS),))
SAID_TWICE = replace(OWN, origins=(origin(OURS), origin(OTHER, day=2)))
REPEATED = MemoryHistory(memory(), added_by=OTHER, origins=(origin(OTHER), origin(OURS, day=2)))


@pytest.mark.parametrize(
    ("history", "forced", "status", "reason"),
    [
        (OWN, False, Status.RETRACTED, None),
        (replace(OWN, changes=(EDIT,)), False, None, LeftAlone.EDITED),
        (replace(OWN, changes=(EDIT,)), True, Status.RETRACTED, None),
        (replace(OWN, memory=memory(status=Status.REJECTED)), False, None, None),
        (replace(OWN, memory=memory(status=Status.PENDING_REVIEW)), False, Status.RETRACTED, None),
        (replace(OWN, memory=memory(status=Status.ARCHIVED)), False, Status.RETRACTED, None),
        (SAID_TWICE, False, None, LeftAlone.SAID_ELSEWHERE),
        (REPEATED, False, None, None),
        (replace(REPEATED, changes=(merged_by(OURS, content="a"), EDIT)), False, None, LeftAlone.EDITED),
    ],
)
def test_what_becomes_of_a_memory(
    history: MemoryHistory, forced: bool, status: Status | None, reason: LeftAlone | None
) -> None:
    planned = rolled_back(history, forced=forced)

    statuses = [each.changes.get("status") for each in planned.plan.of(ReviseMemory)]
    assert [each for each in statuses if each] == ([status] if status else [])
    assert [each.reason for each in planned.kept] == ([reason] if reason else [])
    is_left_alone = reason is LeftAlone.EDITED
    assert bool(planned.plan.of(MarkOrigins)) is not is_left_alone


def test_a_repetition_is_taken_out_with_its_words() -> None:
    planned = rolled_back(replace(REPEATED, changes=(merged_by(OURS, content="User naps.", recurrence=1),)))

    (revised,) = planned.plan.of(ReviseMemory)
    assert revised.changes["content"] == "User naps."
    assert revised.changes["recurrence"] == 1
    assert revised.changes["confidence_parts"]["recurrence"] == 0


def test_what_others_say_gets_their_source() -> None:
    (revised,) = rolled_back(SAID_TWICE).plan.of(ReviseMemory)

    assert revised.changes["trace_id"] == OTHER
    assert revised.changes["said_at"] == MONDAY + timedelta(days=2)
    assert revised.changes["context"] == ""
    assert "status" not in revised.changes


def test_an_open_link_of_the_traces_is_closed_and_others_are_listed() -> None:
    other = memory(NEIGHBOUR)

    def link(trace: UUID) -> MemoryLink:
        return MemoryLink(
            from_memory_id=MEMORY,
            to_memory_id=NEIGHBOUR,
            kind=LinkKind.CONTRADICTS,
            status=LinkStatus.OPEN,
            trace_id=trace,
        )

    ours = rolled_back(OWN, live=(OWN.memory, other), links=(link(OURS),))
    theirs = rolled_back(OWN, live=(OWN.memory, other), links=(link(OTHER),))

    (closed,) = ours.plan.of(SetLinkStatus)
    assert (closed.status, closed.resolution) == (LinkStatus.SETTLED, "rolled_back")
    assert ours.kept == ()
    assert not theirs.plan.of(SetLinkStatus)
    assert [(each.memory_id, each.reason) for each in theirs.kept] == [(NEIGHBOUR, LeftAlone.BUILT_UPON)]


def record(kind: EntityChangeKind, trace: UUID, **more: Any) -> EntityChange:
    return EntityChange(trace_id=trace, kind=kind, alias="Lena", folded="lena", **more)


def entity_history(name: str, added_by: UUID, *records: EntityChange, stays: bool = False) -> EntityHistory:
    return EntityHistory(Entity(id=ENTITY, name=name, added_by=added_by), stays=stays, records=records)


@pytest.mark.parametrize(
    ("entity", "referring", "withdrawn"),
    [
        (entity_history("Lena", OURS), {}, True),
        (entity_history("Lena", OURS), {ENTITY: frozenset({MEMORY})}, True),  # it goes as well
        (entity_history("Lena", OURS), {ENTITY: frozenset({NEIGHBOUR})}, False),
        (entity_history("Lena", OTHER), {}, False),
        (entity_history("Lena", OURS, stays=True), {}, False),
        (entity_history("Lena", OURS, record(EntityChangeKind.NAMED, OTHER)), {}, False),
    ],
)
def test_an_entity_goes_if_nothing_else_uses_it(
    entity: EntityHistory, referring: dict[UUID, frozenset[UUID]], withdrawn: bool
) -> None:
    planned = rolled_back(OWN, entities=(entity,), referring=referring)

    assert [each.withdrawn for each in planned.plan.of(ReviseEntity)] == ([True] if withdrawn else [])


def test_names_lose_what_the_traces_said() -> None:
    renamed = record(EntityChangeKind.RENAMED, OURS, former="User's sister")
    entity = entity_history("Lena", OTHER, record(EntityChangeKind.NAMED, OURS), renamed)

    planned = rolled_back(OWN, entities=(entity,))

    (revised,) = planned.plan.of(ReviseEntity)
    assert (revised.name, revised.withdrawn) == ("User's sister", None)
    assert planned.plan.of(CountAlias) == (CountAlias(ENTITY, alias="Lena", uses=-1),)


@pytest.mark.parametrize("goes_back", [True, False])
def test_a_description_goes_back_unless_it_was_given_away_since(goes_back: bool) -> None:
    taken = record(EntityChangeKind.TAKEN, OURS, uses=3)
    before = entity_history("Bob", OTHER, taken)

    planned = rolled_back(OWN, entities=(before,), given_back={taken.id} if goes_back else set())

    assert planned.plan.of(CountAlias) == ((CountAlias(ENTITY, alias="Lena", uses=3),) if goes_back else ())
