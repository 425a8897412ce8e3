"""Expired and decayed memories are archived with their history, and can be restored."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.memories.models import LedgerEntry, Memory, MemoryVersion
from apps.memories.services.lifecycle import JOB, archive_memories, continue_archiving
from apps.memories.services.revising import Revision, revise
from apps.memories.services.store import StoreRequest, store
from apps.outbox.models import JobRound
from apps.outbox.rounds import begin_round
from apps.pipeline.core.enums import CONSTRAINT, MemoryType, Status
from apps.pipeline.core.policy import DecayPolicy, Policy
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.projects.services import configure
from apps.tenants.models import Project

LONG_AGO = timezone.now() - timedelta(days=20 * 365)


def stored(
    project: Project, content: str, *, user_id: str = "ana", written_at: Any = LONG_AGO, **values: Any
) -> Memory:
    new = NewMemory(type=MemoryType.FACT, content=content, said_at=LONG_AGO, **{"importance": 0.1, **values})
    request = StoreRequest(project_id=project.id, api_key_id=None, user_id=user_id, memories=(new,))
    found = Memory.objects.filter(id=store(request=request)[0])
    found.update(created_at=written_at)
    return found.get()


def status(memory: Memory) -> str:
    memory.refresh_from_db(fields=["status", "decay_score", "version"])
    return memory.status


def test_what_nobody_needs_is_archived_and_the_rest_is_not(project, other_project) -> None:
    faded = [stored(project, "A lamp."), stored(project, "A chair.", user_id="ben"), stored(other_project, "A rug.")]
    kept = [
        stored(project, "Never peanuts.", tags=(CONSTRAINT,)),
        stored(project, "A home.", importance=0.9),
        stored(project, "Brought along today.", written_at=timezone.now()),
    ]
    assert archive_memories() == 3
    assert {status(memory) for memory in faded} == {Status.ARCHIVED}
    assert {status(memory) for memory in kept} == {Status.ACTIVE}
    assert archive_memories() == 0


def test_what_is_used_stays(project) -> None:
    used = stored(project, "A lamp.")
    Memory.objects.filter(id=used.id).update(access_count=4, last_accessed=timezone.now())
    assert archive_memories() == 0
    assert status(used) == Status.ACTIVE


def test_the_score_is_kept(project) -> None:
    memory = stored(project, "A home.", importance=0.9)
    archive_memories()
    assert status(memory) == Status.ACTIVE
    assert memory.decay_score == pytest.approx(0.45 * 0.9, abs=0.01)
    assert memory.version == 1


@pytest.mark.parametrize(
    ("values", "verb"), [({}, "archived"), ({"expires_at": timezone.now() - timedelta(hours=1)}, "expired")]
)
def test_history_and_ledger_tell_what_happened(project, values, verb) -> None:
    memory = stored(project, "A lamp.", **values)
    archive_memories()
    version = MemoryVersion.objects.get(memory=memory)
    assert (version.operation, version.values, version.actor) == (verb, {"status": "active"}, "system")
    assert LedgerEntry.objects.filter(object_id=memory.id, verb=verb).count() == 1


def test_a_person_restores_what_was_archived(project) -> None:
    memory = stored(project, "A lamp.")
    archive_memories()
    changes = {"status": Status.ACTIVE, "importance": 0.8}
    revise(revision=Revision(project_id=project.id, memory_id=memory.id, changes=changes, may_review=True))
    assert status(memory) == Status.ACTIVE
    assert archive_memories() == 0


def test_the_projects_policy_decides(project) -> None:
    configure(project_id=project.id, policy=Policy(decay=DecayPolicy(archive_below=0)))
    stored(project, "A lamp.")
    assert archive_memories() == 0


@pytest.mark.parametrize("other", [Status.PENDING_REVIEW, Status.SUPERSEDED, Status.RETRACTED])
def test_only_active_memories_are_archived(project, other) -> None:
    memory = stored(project, "A lamp.", status=other, valid_until=timezone.now())
    assert archive_memories() == 0
    assert status(memory) == other


def test_it_goes_on_where_it_was(project: Project, other_project: Project) -> None:
    """A part ends with an end user; the next one does not look at those again, nor does another begin anew."""
    faded = [stored(project, "A lamp.", user_id=name) for name in ("ana", "ben")]
    faded.append(stored(other_project, "A rug."))
    assert [archive_memories(most=timedelta(0)) for _ in faded] == [1, 1, 1]
    assert {status(memory) for memory in faded} == {Status.ARCHIVED}
    again = stored(project, "A chair.", user_id="ana")
    assert continue_archiving(most=timedelta(minutes=1)) == 0
    assert JobRound.objects.get().finished_at is not None
    assert archive_memories() == 1
    assert status(again) == Status.ARCHIVED


def test_a_round_that_another_process_holds_is_left_alone(project: Project) -> None:
    begin_round(job=JOB)
    JobRound.objects.update(leased_until=timezone.now() + timedelta(minutes=1))
    memory = stored(project, "A lamp.")
    assert archive_memories() == 0
    assert status(memory) == Status.ACTIVE
    JobRound.objects.update(leased_until=timezone.now() - timedelta(minutes=1))  # that process has died
    assert archive_memories() == 1
