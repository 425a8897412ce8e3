"""What became of the memories that agents were told."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from apps.memories.models import Memory, MemoryLink, MemoryVersion
from apps.memories.services.count_accesses import Accesses
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import LinkKind, MemoryType, Status
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project
from apps.tuning.evaluation.figures import RetrievalFigures, read_retrieval, share_of

pytestmark = pytest.mark.django_db
TOLD = datetime(2030, 6, 1, tzinfo=UTC)
NOW = TOLD + timedelta(days=40)


@pytest.fixture
def memories(project: Project) -> list[Memory]:
    """Three memories that agents were told forty days ago."""
    new = tuple(NewMemory(type=MemoryType.FACT, content=f"Ana has a {thing}.") for thing in ("lamp", "chair", "rug"))
    ids = store(request=StoreRequest(project_id=project.pk, api_key_id=None, user_id="ana", memories=new))
    Memory.objects.filter(id__in=ids).update(first_accessed=TOLD, recurrence=2)
    return list(Memory.objects.filter(id__in=ids).order_by("id"))


def change(memory: Memory, operation: str, *, days: float, **values: Any) -> None:
    MemoryVersion.objects.create(
        end_user=memory.end_user,
        memory=memory,
        version=MemoryVersion.objects.count() + 1,
        values=values,
        operation=operation,
        actor="person:1",
        known_from=TOLD,
        known_until=TOLD + timedelta(days=days),
    )


def figures(project: Project, *, weeks: int = 12, now: datetime = NOW) -> tuple[int, int, int, int]:
    found: RetrievalFigures = read_retrieval(project_id=project.pk, weeks=weeks, now=now)
    return found.told, found.confirmed, found.contradicted, found.superseded


def test_the_first_time_is_kept(memories: list[Memory], settings: Any) -> None:
    settings.ACCESS_FLUSH_SECONDS = 3_600
    accesses, memory = Accesses(), memories[0]
    Memory.objects.filter(pk=memory.pk).update(first_accessed=None)
    for days in (1, 2):
        accesses.note(end_user_id=memory.end_user_id, memory_ids=[memory.pk], at=TOLD + timedelta(days=days))
        accesses.count()
    assert accesses.timer is not None
    accesses.timer.cancel()
    memory.refresh_from_db()
    assert memory.first_accessed == TOLD + timedelta(days=1)


def test_what_nothing_was_heard_of_counts_as_told(project: Project, memories: list[Memory]) -> None:
    assert figures(project) == (3, 0, 0, 0)
    assert read_retrieval(project_id=project.pk, weeks=12, now=NOW).precision.value is None


@pytest.mark.parametrize(
    ("operation", "days", "values", "confirmed"),
    [
        ("merged", 1, {"recurrence": 1}, 1),
        ("merged", 30, {"recurrence": 1}, 1),
        ("merged", 31, {"recurrence": 1}, 0),
        ("merged", -1, {"recurrence": 1}, 0),
        ("merged", 1, {"recurrence": 2}, 0),  # in the same session on the same day
        ("merged", 1, {"content": "x"}, 0),
        ("approved", 1, {"status": "pending_review"}, 1),
        ("kept", 1, {"status": "active"}, 1),
        ("revised", 1, {"content": "x"}, 0),
    ],
)
def test_a_repetition_or_an_approval_confirms(
    project: Project, memories: list[Memory], operation: str, days: float, values: dict[str, Any], confirmed: int
) -> None:
    change(memories[0], operation, days=days, **values)
    assert figures(project) == (3, confirmed, 0, 0)


@pytest.mark.parametrize(("days", "contradicted"), [(1, 2), (31, 0), (-1, 0)])
def test_a_link_contradicts_both_sides(
    project: Project, memories: list[Memory], days: float, contradicted: int
) -> None:
    one, other, _ = memories
    for kind in (LinkKind.CONTRADICTS, LinkKind.POSSIBLE_DUPLICATE):
        MemoryLink.objects.create(
            end_user=one.end_user,
            project=project,
            from_memory=one,
            to_memory=other,
            kind=kind,
            created_at=TOLD + timedelta(days=days),
        )
    assert figures(project) == (3, 0, contradicted, 0)


def test_an_objection_outweighs_a_confirmation(project: Project, memories: list[Memory]) -> None:
    one, other, _ = memories
    for memory in (one, other):
        change(memory, "approved", days=1, status="pending_review")
    change(one, "superseded", days=2, status="active")
    Memory.objects.filter(pk=one.pk).update(status=Status.SUPERSEDED, superseded_by=other, valid_until=TOLD)
    assert figures(project) == (3, 2, 0, 1)
    assert read_retrieval(project_id=project.pk, weeks=12, now=NOW).precision == share_of(part=1, whole=2)


def test_a_newer_value_supersedes(project: Project, memories: list[Memory]) -> None:
    one, other, third = memories
    for memory, days in ((one, 1), (other, 31)):
        change(memory, "superseded", days=days, status="active")
    Memory.objects.filter(pk__in=[one.pk, other.pk]).update(
        status=Status.SUPERSEDED, superseded_by=third, valid_until=TOLD
    )
    assert figures(project) == (3, 0, 0, 1)
    Memory.objects.filter(pk=one.pk).update(status=Status.ACTIVE, superseded_by=None)  # undone since
    assert figures(project) == (3, 0, 0, 0)


@pytest.mark.parametrize(("weeks", "now", "told"), [(1, NOW, 0), (2, NOW, 3), (2, TOLD + timedelta(days=29), 0)])
def test_thirty_days_have_to_be_over(
    project: Project, memories: list[Memory], weeks: int, now: datetime, told: int
) -> None:
    assert figures(project, weeks=weeks, now=now)[0] == told


def test_other_projects_are_left_out(other_project: Project, memories: list[Memory]) -> None:
    assert figures(other_project) == (0, 0, 0, 0)
