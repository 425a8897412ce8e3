"""Review decisions: approve, reject, merge, settle, and undo."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User

from apps.common.errors import Conflict, NotAllowed, NotFound, Unfit
from apps.memories.models import LedgerEntry, Memory, MemoryLink, MemoryOrigin, MemoryVersion
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import LinkKind, LinkResolution, LinkStatus, MemoryType, RejectionReason, Role, Status
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.pipeline.review.decisions import Validity
from apps.review.services import (
    ReviewDecision,
    Reviewer,
    SeenVersion,
    Settlement,
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


@pytest.fixture
def ana(project: Project) -> Reviewer:
    return Reviewer(project_id=project.pk, person_id=User.objects.create_user("ana").pk)


@pytest.fixture
def ben(project: Project) -> Reviewer:
    return Reviewer(project_id=project.pk, person_id=User.objects.create_user("ben").pk)


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


def settlement(link: MemoryLink, resolution: LinkResolution, **more: object) -> Settlement:
    return Settlement(
        link_id=link.pk,
        resolution=resolution,
        from_seen=seen(link.from_memory),
        to_seen=seen(link.to_memory),
        **more,  # type: ignore[arg-type]
    )


def test_approving_and_back(project: Project, ana: Reviewer) -> None:
    memory = waiting(project, "Rui lives in Lisbon.")
    decided = approve(by=ana, seen=[seen(memory)])
    assert now(memory).status == Status.ACTIVE
    undo(by=ana, decided=decided)
    back = now(memory)
    assert (back.status, back.version) == (Status.PENDING_REVIEW, 3)
    operations = MemoryVersion.objects.filter(memory=memory).values_list("operation", flat=True)
    assert list(operations) == ["approved", "undone"]


def test_approving_in_other_words(project: Project, ana: Reviewer) -> None:
    memory = waiting(project, "Rui lives in Lisbonn.")
    decided = approve(by=ana, seen=[seen(memory)], content="Rui lives in Lisbon.")
    approved = now(memory)
    assert (approved.content, approved.status) == ("Rui lives in Lisbon.", Status.ACTIVE)
    undo(by=ana, decided=decided)
    back = now(memory)
    assert (back.content, back.canonical_hash) == (memory.content, memory.canonical_hash)


def test_the_second_reviewer_is_refused_and_the_others_are_done(project: Project, ana: Reviewer, ben: Reviewer) -> None:
    first, second = waiting(project, "Rui likes tea."), waiting(project, "Rui likes rain.")
    reject(by=ben, seen=[seen(first)], reason=RejectionReason.NOT_TRUE)
    decided = approve(by=ana, seen=[seen(first), seen(second)])
    assert [each.memory_id for each in decided.memories] == [second.pk]
    assert [(each.memory_id, type(each.why)) for each in decided.refused] == [(first.pk, Conflict)]
    assert now(first).status == Status.REJECTED


def test_the_ledger_keeps_why_and_no_content(project: Project, ana: Reviewer) -> None:
    memory = waiting(project, "Rui likes tea.")
    reject(by=ana, seen=[seen(memory)], reason=RejectionReason.PRIVATE)
    entry = LedgerEntry.objects.get(object_id=memory.pk, verb="rejected")
    assert entry.details == {"fields": ["status"], "note": "private"}
    assert entry.actor == f"person:{ana.person_id}"


def test_undoing_many_is_all_or_nothing(project: Project, ana: Reviewer, ben: Reviewer) -> None:
    first, second = waiting(project, "Rui likes tea."), waiting(project, "Eva likes rain.", user="eva")
    decided = approve(by=ana, seen=[seen(first), seen(second)])
    undo(by=ana, decided=ReviewDecision(memories=decided.memories[1:]))
    with pytest.raises(Conflict):
        undo(by=ana, decided=decided)
    assert now(first).status == Status.ACTIVE


def test_nobody_undoes_what_somebody_else_did(project: Project, ana: Reviewer, ben: Reviewer) -> None:
    decided = approve(by=ana, seen=[seen(waiting(project, "Rui likes tea."))])
    with pytest.raises(NotAllowed):
        undo(by=ben, decided=decided)


def test_a_memory_of_another_project_is_not_there(project: Project, other_project: Project, ana: Reviewer) -> None:
    memory = waiting(other_project, "Rui likes tea.")
    (refusal,) = approve(by=ana, seen=[seen(memory)]).refused
    assert isinstance(refusal.why, NotFound)


def test_merging_hands_the_sources_over_and_back(project: Project, ana: Reviewer) -> None:
    successor, copy = waiting(project, "Rui likes tea.", status=Status.ACTIVE), waiting(project, "Rui enjoys tea.")
    said_in(successor, "monday", SPRING)
    said_in(copy, "friday", SUMMER)
    decided = merge_memories(by=ana, seen=seen(copy), into=seen(successor))
    merged = now(successor)
    assert (now(copy).status, now(copy).superseded_by_id) == (Status.MERGED, successor.pk)
    assert (merged.recurrence, merged.origins.count()) == (2, 2)
    assert merged.confidence >= successor.confidence
    undo(by=ana, decided=decided)
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
def test_settling_and_back(
    project: Project, ana: Reviewer, resolution: LinkResolution, newer: Status, older: Status
) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    link = linked(one, other)
    decided = settle_link(by=ana, settlement=settlement(link, resolution))
    link.refresh_from_db()
    assert (now(one).status, now(other).status) == (newer, older)
    assert (link.status, link.resolution) == (LinkStatus.SETTLED, resolution)
    undo(by=ana, decided=decided)
    link.refresh_from_db()
    assert (now(one).status, now(other).status) == (Status.PENDING_REVIEW, Status.ACTIVE)
    assert (link.status, link.resolution, link.settled_at) == (LinkStatus.OPEN, "", None)


def test_both_are_true_one_after_the_other(project: Project, ana: Reviewer) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    validity = {one.pk: Validity(begins=SUMMER), other.pk: Validity(ends=SUMMER)}
    settle_link(by=ana, settlement=settlement(linked(one, other), LinkResolution.BOTH, validity=validity))
    assert (now(one).valid_from, now(one).valid_until) == (SUMMER, None)
    assert (now(other).valid_from, now(other).valid_until) == (SPRING, SUMMER)


def test_a_validity_that_ends_before_it_begins_writes_nothing(project: Project, ana: Reviewer) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    link = linked(one, other)
    validity = {one.pk: Validity(begins=SUMMER, ends=SPRING)}
    with pytest.raises(Unfit):
        settle_link(by=ana, settlement=settlement(link, LinkResolution.BOTH, validity=validity))
    assert now(one).status == Status.PENDING_REVIEW
    assert MemoryLink.objects.get(pk=link.pk).status == LinkStatus.OPEN


def test_the_second_settlement_is_a_conflict(project: Project, ana: Reviewer, ben: Reviewer) -> None:
    one, other = waiting(project, "Rui lives in Braga."), waiting(project, "Rui lives in Faro.", status=Status.ACTIVE)
    link = linked(one, other)
    settle_link(by=ben, settlement=settlement(link, LinkResolution.KEPT_FROM))
    with pytest.raises(Conflict):
        settle_link(by=ana, settlement=settlement(link, LinkResolution.KEPT_TO))


def test_memories_that_are_private_to_different_agents_are_not_merged(ana: Reviewer, project: Project) -> None:
    one, other = waiting(project, "Rui likes tea."), waiting(project, "Rui likes tea a lot.")
    Memory.objects.filter(pk=one.pk).update(private_to="a1", agent_id="a1")

    with pytest.raises(Conflict, match="different agents"):
        merge_memories(by=ana, seen=seen(one), into=seen(other))
