"""Which events each operation of a plan causes: a decision table."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from apps.events.record import events_of_plan
from apps.pipeline.core.enums import LinkKind, LinkStatus, Status, WorkKind
from apps.pipeline.core.operations import (
    EnqueueWork,
    LinkMemories,
    Operation,
    ReviseMemory,
    SetLinkStatus,
    SupersedeMemory,
)
from apps.pipeline.core.plan import WritePlan

ONE, OTHER = UUID(int=1), UUID(int=2)
NOW = datetime(2026, 3, 2, tzinfo=UTC)


def revised(verb: str, **changes: Any) -> ReviseMemory:
    return ReviseMemory(ONE, 1, verb=verb, changes=changes)


def marked(status: LinkStatus) -> SetLinkStatus:
    return SetLinkStatus(ONE, OTHER, LinkKind.CONTRADICTS, status=status, resolution="kept_from")


approved = revised("approved", status=Status.ACTIVE)
rejected = revised("rejected", status=Status.REJECTED)


@pytest.mark.parametrize(
    ("operation", "events"),
    [
        (revised("revised", content="Ana lives in Porto."), [("memory.updated", "revised")]),
        (approved, [("memory.updated", "approved"), ("review.decided", "approved")]),
        (rejected, [("memory.rejected", "rejected"), ("review.decided", "rejected")]),
        (revised("retracted", status="retracted"), [("memory.retracted", "retracted")]),
        (revised("archived", status=Status.ARCHIVED), [("memory.archived", "archived")]),
        (revised("expired", status=Status.ARCHIVED), [("memory.archived", "expired")]),
        (revised("ended", status=Status.SUPERSEDED), [("memory.superseded", "ended")]),
        (revised("merged", status=Status.MERGED), [("memory.merged", "merged")]),
        (revised("restored", status=Status.ACTIVE), [("memory.restored", "restored")]),
        (revised("undone", status=Status.ACTIVE), [("memory.restored", "undone")]),
        (revised("undone", status=Status.PENDING_REVIEW), [("memory.updated", "undone"), ("review.needed", "undone")]),
        (SupersedeMemory(ONE, 1, superseded_by=OTHER, valid_until=NOW), [("memory.superseded", "superseded")]),
        (LinkMemories(ONE, OTHER, LinkKind.CONTRADICTS), [("review.needed", "contradicts")]),
        (marked(LinkStatus.OPEN), [("review.needed", "contradicts")]),
        (marked(LinkStatus.SETTLED), [("review.decided", "kept_from")]),
        (EnqueueWork(WorkKind.INDEX_MEMORY, ONE), []),
    ],
)
def test_an_operation_causes_events(operation: Operation, events: list[tuple[str, str]]) -> None:
    caused = list(events_of_plan(WritePlan(operations=(operation,))))

    assert [(each.type.value, each.verb) for each in caused] == events
    assert {each.memory_id for each in caused} <= {ONE}
