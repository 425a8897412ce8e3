"""Approving a value closes the one that it replaces; undoing the approval reopens it."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from apps.common.errors import Conflict, NotFound
from apps.memories.ledger.actor import acting_as
from apps.memories.models import Memory, MemoryLink
from apps.memories.services.revising import settle_change
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import LinkKind, LinkResolution, MemoryType, Status
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.review.context import context_to_decide
from apps.review.services import SeenVersion, approve, merge_memories, settle_link
from apps.review.undo import undo
from apps.tenants.models import Project


@pytest.fixture(autouse=True)
def _ana_decides() -> Iterator[None]:
    with acting_as("key:ana"):
        yield


def lives_in(project: Project, place: str, *, day: int, status: Status | None = None, evidence: str = "") -> Memory:
    told = NewMemory(
        type=MemoryType.FACT, content=f"Ana lives in {place}.", subject=Mention("User"), predicate="lives_in",
        object=ObjectValue(literal=place), stateful=True, status=status, said_at=datetime(2025, 1, day, tzinfo=UTC),
        evidence=evidence,
    )  # fmt: skip
    request = StoreRequest(project_id=project.id, api_key_id=None, user_id="ana", memories=(told,))
    return Memory.objects.get(id=store(request=request)[0])


def live() -> set[str]:
    return set(Memory.objects.filter(predicate="lives_in", status=Status.ACTIVE).values_list("object_text", flat=True))


def seen(memory: Memory) -> SeenVersion:
    return SeenVersion(memory.id, memory.version)


def approved(memory: Memory) -> None:
    decided = approve(project_id=memory.project_id, seen=[seen(memory)])
    assert not decided.refused


@pytest.mark.parametrize(("day", "expected"), [(20, "Bonn"), (5, "Kiel")])
def test_an_approved_value_leaves_one_live_in_its_slot(project: Project, day: int, expected: str) -> None:
    lives_in(project, "Kiel", day=10)
    approved(lives_in(project, "Bonn", day=day, status=Status.PENDING_REVIEW))
    (history,) = Memory.objects.filter(status=Status.SUPERSEDED)
    assert live() == {expected}
    assert history.superseded_by is not None
    assert history.superseded_by.object_text == expected
    assert history.valid_until == max(history.valid_from, history.superseded_by.valid_from)


def test_a_value_that_joins_closes_nothing(project: Project) -> None:
    lives_in(project, "Kiel", day=10)
    also = lives_in(project, "Bonn", day=20, status=Status.PENDING_REVIEW, evidence="I also live in Bonn")
    approved(also)
    assert live() == {"Kiel", "Bonn"}


def test_undoing_an_approval_opens_what_it_closed(project: Project) -> None:
    lives_in(project, "Kiel", day=10)
    bonn = lives_in(project, "Bonn", day=20, status=Status.PENDING_REVIEW)
    decided = approve(project_id=project.pk, seen=[seen(bonn)])
    undo(project_id=project.pk, decided=decided)
    assert live() == {"Kiel"}
    bonn.refresh_from_db()
    assert bonn.status == Status.PENDING_REVIEW
    kiel = Memory.objects.get(object_text="Kiel")
    assert (kiel.superseded_by, kiel.valid_until) == (None, None)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_approvals_that_share_a_slot_are_undone_in_any_order(project: Project, order: tuple[int, int]) -> None:
    waiting = [
        lives_in(project, place, day=day, status=Status.PENDING_REVIEW) for place, day in (("Kiel", 5), ("Bonn", 9))
    ]
    decided = [approve(project_id=project.pk, seen=[seen(each)]) for each in waiting]
    for number in order:
        undo(project_id=project.pk, decided=decided[number])
    assert {Memory.objects.get(pk=each.pk).status for each in waiting} == {Status.PENDING_REVIEW}


def test_an_undone_approval_that_had_become_history_waits_again(project: Project) -> None:
    lives_in(project, "Kiel", day=10)
    late = lives_in(project, "Bonn", day=5, status=Status.PENDING_REVIEW)
    decided = approve(project_id=project.pk, seen=[seen(late)])
    undo(project_id=project.pk, decided=decided)
    late.refresh_from_db()
    assert (late.status, late.superseded_by, late.valid_until) == (Status.PENDING_REVIEW, None, None)
    assert live() == {"Kiel"}


def test_an_approved_successor_closes_the_value_of_its_slot_and_undo_reopens_it(project: Project) -> None:
    lives_in(project, "Kiel", day=10)
    bonn = lives_in(project, "Bonn", day=20, status=Status.PENDING_REVIEW)
    again = lives_in(project, "old Bonn", day=21, status=Status.PENDING_REVIEW)
    decided = merge_memories(project_id=project.pk, seen=seen(again), into=seen(bonn))
    assert live() == {"Bonn"}
    undo(project_id=project.pk, decided=decided)
    assert live() == {"Kiel"}


def test_merging_the_value_of_a_slot_into_a_pending_one_leaves_the_pending_one(project: Project) -> None:
    kiel = lives_in(project, "Kiel", day=10)
    again = lives_in(project, "old Kiel", day=5, status=Status.PENDING_REVIEW)
    merge_memories(project_id=project.pk, seen=seen(kiel), into=seen(again))
    assert live() == {"old Kiel"}


def test_the_side_that_is_kept_closes_a_third_value(project: Project) -> None:
    lives_in(project, "Kiel", day=10)
    bonn, ulm = (lives_in(project, place, day=20, status=Status.PENDING_REVIEW) for place in ("Bonn", "Ulm"))
    link = MemoryLink.objects.create(
        end_user=bonn.end_user, project=project, from_memory=bonn, to_memory=ulm, kind=LinkKind.CONTRADICTS
    )
    both = (seen(bonn), seen(ulm))
    decided = settle_link(project_id=project.pk, link_id=link.id, seen=both, resolution=LinkResolution.KEPT_FROM)
    assert live() == {"Bonn"}
    undo(project_id=project.pk, decided=decided)
    assert live() == {"Kiel"}


@pytest.mark.parametrize(("day", "expected"), [(20, "Ulm"), (5, "Bonn")])
def test_an_undone_merge_meets_what_has_come_since(project: Project, day: int, expected: str) -> None:
    bonn = lives_in(project, "Bonn", day=10)
    also = lives_in(project, "Hamm", day=1, evidence="I also live in Hamm")
    decided = merge_memories(project_id=project.pk, seen=seen(bonn), into=seen(also))
    lives_in(project, "Ulm", day=day)
    undo(project_id=project.pk, decided=decided)
    assert live() == {expected, "Hamm"}


def test_a_memory_whose_turn_was_deleted_meanwhile_is_refused(project: Project) -> None:
    memory = lives_in(project, "Kiel", day=10)
    Memory.objects.filter(id=memory.id).delete()

    with pytest.raises(NotFound):
        settle_change(memory=memory, changes={"canonical_hash": "another"})
    with pytest.raises(NotFound):
        settle_change(memory=memory, changes={"status": Status.ACTIVE})
    with pytest.raises(Conflict):
        context_to_decide([memory])
