"""Review decisions: approve, reject, merge, settle, and undo."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from apps.common.errors import Conflict, NotAllowed, NotFound, Unfit
from apps.memories.ledger.actor import acting_as
from apps.memories.models import LedgerEntry, Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus, MemoryType, RejectionReason, Role, Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.review.decisions import Validity
from apps.review.services import (
    ReviewDecision,
    SeenVersion,
    approve,
    merge_memories,
    reject,
    settle_link,
)
from apps.review.undo import undo
from apps.tenants.models import Project
from apps.traces.models import ConfigurationVersion, Session, Trace, Turn

pytestmark = pytest.mark.django_db
SPRING, SUMMER = datetime(2024, 4, 1, tzinfo=UTC), datetime(2024, 7, 1, tzinfo=UTC)


ANA, BEN = "key:ana", "key:ben"


@pytest.fixture(autouse=True)
def _ana_decides() -> Iterator[None]:
    with acting_as(ANA):
        yield


def waiting(project: Project, content: str, *, user: str = "rui", status: Status = Status.PENDING_REVIEW) -> Memory:
    new = NewMemory(content=content, type=MemoryType.FACT, status=status, valid_from=SPRING)
    (identifier,) = store(request=StoreRequest(project_id=project.pk, api_key_id=None, user_id=user, memories=(new,)))
    return Memory.objects.get(pk=identifier)


def said_in(memory: Memory, session: str, at: datetime) -> None:
    """Add an origin in a session to a memory."""
    mine = {"end_user": memory.end_user, "project": memory.project}
    configuration = ConfigurationVersion.objects.get(project=memory.project, is_active=True)
    talk = Session.objects.create(id=new_id(), external_id=session, **mine)
    trace = Trace.objects.create(session=talk, configuration=configuration, **mine)
    turn = Turn.objects.create(
        end_user=memory.end_user, session=talk, trace=trace, position=0, role=Role.USER, content=memory.content
    )
    MemoryOrigin.objects.create(
        end_user=memory.end_user,
        memory=memory,
        trace=trace,
        session=talk,
        turn=turn,
        role=Role.USER,
        evidence=memory.content,
        said_at=at,
    )


def seen(memory: Memory) -> SeenVersion:
    return SeenVersion(memory.pk, memory.version)


def now(memory: Memory) -> Memory:
    return Memory.objects.get(pk=memory.pk)


def linked(newer: Memory, older: Memory) -> MemoryLink:
    return MemoryLink.objects.create(
        end_user=newer.end_user,
        project=newer.project,
        from_memory=newer,
        to_memory=older,
        kind=LinkKind.CONTRADICTS,
    )


def settled(link: MemoryLink, resolution: LinkResolution, **more: Any) -> ReviewDecision:
    both = (seen(link.from_memory), seen(link.to_memory))
    return settle_link(project_id=link.project_id, link_id=link.pk, seen=both, resolution=resolution, **more)


def test_approving_and_back(project: Project) -> None:
    memory = waiting(project, "Rui lives in Lisbon.")
    decided = approve(project_id=project.pk, seen=[seen(memory)])
    assert now(memory).status == Status.ACTIVE
    undo(project_id=project.pk, decided=decided)
    back = now(memory)
    assert (back.status, back.version) == (Status.PENDING_REVIEW, 3)
    operations = MemoryVersion.objects.filter(memory=memory).values_list("operation", flat=True)
    assert list(operations) == ["approved", "undone"]


def test_approving_in_other_words(project: Project) -> None:
    memory = waiting(project, "Rui lives in Lisbonn.")
    decided = approve(project_id=project.pk, seen=[seen(memory)], content="Rui lives in Lisbon.")
    approved = now(memory)
    assert (approved.content, approved.status) == ("Rui lives in Lisbon.", Status.ACTIVE)
    undo(project_id=project.pk, decided=decided)
    back = now(memory)
    assert (back.content, back.canonical_hash) == (memory.content, memory.canonical_hash)


def test_the_second_reviewer_is_refused_and_the_others_are_done(project: Project) -> None:
    first, second = waiting(project, "Rui likes tea."), waiting(project, "Rui likes rain.")
    with acting_as(BEN):
        reject(project_id=project.pk, seen=[seen(first)], reason=RejectionReason.NOT_TRUE)
    decided = approve(project_id=project.pk, seen=[seen(first), seen(second)])
    assert [each.memory_id for each in decided.memories] == [second.pk]
    assert {memory_id: type(why) for memory_id, why in decided.refused.items()} == {first.pk: Conflict}
    assert now(first).status == Status.REJECTED


def test_the_ledger_keeps_why_and_no_content(project: Project) -> None:
    memory = waiting(project, "Rui likes tea.")
    reject(project_id=project.pk, seen=[seen(memory)], reason=RejectionReason.PRIVATE)
    entry = LedgerEntry.objects.get(object_id=memory.pk, verb="rejected")
    assert entry.details == {"fields": ["status"], "note": "private"}
    assert entry.actor == ANA


def test_undoing_many_is_all_or_nothing(project: Project) -> None:
    first, second = waiting(project, "Rui likes tea."), waiting(project, "Eva likes rain.", user="eva")
    decided = approve(project_id=project.pk, seen=[seen(first), seen(second)])
    undo(project_id=project.pk, decided=ReviewDecision(memories=decided.memories[1:]))
    with pytest.raises(Conflict):
        undo(project_id=project.pk, decided=decided)
    assert now(first).status == Status.ACTIVE


def test_nobody_undoes_what_somebody_else_did(project: Project) -> None:
    decided = approve(project_id=project.pk, seen=[seen(waiting(project, "Rui likes tea."))])
    with acting_as(BEN), pytest.raises(NotAllowed):
        undo(project_id=project.pk, decided=decided)


def test_a_memory_of_another_project_is_not_there(project: Project, other_project: Project) -> None:
    memory = waiting(other_project, "Rui likes tea.")
    (why,) = approve(project_id=project.pk, seen=[seen(memory)]).refused.values()
    assert isinstance(why, NotFound)


def test_merging_hands_the_sources_over_and_back(project: Project) -> None:
    successor, copy = waiting(project, "Rui likes tea.", status=Status.ACTIVE), waiting(project, "Rui enjoys tea.")
    said_in(successor, "monday", SPRING)
    said_in(copy, "friday", SUMMER)
    decided = merge_memories(project_id=project.pk, seen=seen(copy), into=seen(successor))
    merged = now(successor)
    assert (now(copy).status, now(copy).superseded_by_id) == (Status.MERGED, successor.pk)
    assert (merged.recurrence, merged.origins.count()) == (2, 2)
    assert merged.confidence >= successor.confidence
    undo(project_id=project.pk, decided=decided)
    back = now(successor)
    assert (now(copy).status, now(copy).superseded_by_id) == (Status.PENDING_REVIEW, None)
    assert (back.recurrence, back.confidence, back.origins.count()) == (1, successor.confidence, 1)


@pytest.mark.parametrize(
    ("resolution", "newer", "older"),
    [
        (LinkResolution.KEPT_FROM, Status.ACTIVE, Status.REJECTED),
        (LinkResolution.KEPT_TO, Status.REJECTED, Status.ACTIVE),
        (LinkResolution.BOTH, Status.ACTIVE, Status.ACTIVE),
        (LinkResolution.MERGED, Status.MERGED, Status.ACTIVE),
    ],
)
def test_settling_and_back(project: Project, resolution: LinkResolution, newer: Status, older: Status) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    link = linked(one, other)
    decided = settled(link, resolution)
    link.refresh_from_db()
    assert (now(one).status, now(other).status) == (newer, older)
    assert (link.status, link.resolution) == (LinkStatus.SETTLED, resolution)
    undo(project_id=project.pk, decided=decided)
    link.refresh_from_db()
    assert (now(one).status, now(other).status) == (Status.PENDING_REVIEW, Status.ACTIVE)
    assert (link.status, link.resolution, link.settled_at) == (LinkStatus.OPEN, "", None)


def test_both_are_true_one_after_the_other(project: Project) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    validity = {one.pk: Validity(begins=SUMMER), other.pk: Validity(ends=SUMMER)}
    settled(linked(one, other), LinkResolution.BOTH, validity=validity)
    assert (now(one).valid_from, now(one).valid_until) == (SUMMER, None)
    assert (now(other).valid_from, now(other).valid_until) == (SPRING, SUMMER)


def test_a_validity_that_ends_before_it_begins_writes_nothing(project: Project) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    link = linked(one, other)
    validity = {one.pk: Validity(begins=SUMMER, ends=SPRING)}
    with pytest.raises(Unfit):
        settled(link, LinkResolution.BOTH, validity=validity)
    assert now(one).status == Status.PENDING_REVIEW
    assert MemoryLink.objects.get(pk=link.pk).status == LinkStatus.OPEN


def test_the_second_settlement_is_a_conflict(project: Project) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    link = linked(one, other)
    with acting_as(BEN):
        settled(link, LinkResolution.KEPT_FROM)
    with pytest.raises(Conflict):
        settled(link, LinkResolution.KEPT_TO)


def test_memories_that_are_private_to_different_agents_are_not_merged(project: Project) -> None:
    one, other = waiting(project, "Rui likes tea."), waiting(project, "Rui likes tea a lot.")
    Memory.objects.filter(pk=one.pk).update(private_to="a1", agent_id="a1")

    with pytest.raises(Conflict, match="different agents"):
        merge_memories(project_id=project.pk, seen=seen(one), into=seen(other))
