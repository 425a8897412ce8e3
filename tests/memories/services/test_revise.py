"""Revising and retracting under changes by others."""

from typing import Any

import pytest

from apps.common.errors import Conflict, NotFound
from apps.memories.models import Memory, MemoryVersion
from apps.memories.services import revising
from apps.memories.services.revising import Revision, retract, revise
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project


@pytest.fixture
def memory(project: Project) -> Memory:
    request = StoreRequest(
        project_id=project.id,
        api_key_id=None,
        user_id="ana",
        memories=(NewMemory(type=MemoryType.FACT, content="Ana is tall."),),
    )
    return Memory.objects.get(id=store(request=request)[0])


@pytest.fixture
def meddler(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Change the version of the memory after it is read, once per number in the list, like a concurrent writer."""
    changes: list[int] = []
    find = revising.find_memory

    def find_then_meddle(**wanted: Any) -> Memory:
        found = find(**wanted)
        if changes:
            Memory.objects.filter(id=memory.id).update(version=found.version + changes.pop())
        return found

    monkeypatch.setattr("apps.memories.services.revising.find_memory", find_then_meddle)
    monkeypatch.setattr("apps.memories.services.revising.find_memory", find_then_meddle)
    return changes


def test_a_change_by_others_is_built_upon(memory: Memory, meddler: list[int]) -> None:
    meddler += [1]

    revise(revision=Revision(project_id=memory.project_id, memory_id=memory.id, changes={"importance": 0.9}))

    memory.refresh_from_db()
    assert (memory.importance, memory.version) == (0.9, 3)


def test_with_a_version_a_change_by_others_conflicts(memory: Memory, meddler: list[int]) -> None:
    meddler += [1]
    revision = Revision(
        project_id=memory.project_id, memory_id=memory.id, changes={"importance": 0.9}, expected_version=1
    )

    with pytest.raises(Conflict):
        revise(revision=revision)
    assert Memory.objects.get().importance == 0.5


def test_a_memory_that_never_stands_still_is_given_up(memory: Memory, meddler: list[int]) -> None:
    meddler += [1] * 10

    with pytest.raises(Conflict):
        revise(revision=Revision(project_id=memory.project_id, memory_id=memory.id, changes={"importance": 0.9}))
    with pytest.raises(Conflict):
        retract(project_id=memory.project_id, memory_id=memory.id)
    assert not MemoryVersion.objects.exists()


def test_a_new_wording_gets_its_hash(memory: Memory) -> None:
    revise(revision=Revision(project_id=memory.project_id, memory_id=memory.id, changes={"content": "Ana is TALL"}))
    assert Memory.objects.get().canonical_hash == memory.canonical_hash

    revise(revision=Revision(project_id=memory.project_id, memory_id=memory.id, changes={"content": "Ana is short."}))
    assert Memory.objects.get().canonical_hash != memory.canonical_hash


def test_memories_of_other_projects_are_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound):
        revise(revision=Revision(project_id=new_id(), memory_id=memory.id, changes={"importance": 0.9}))
    with pytest.raises(NotFound):
        retract(project_id=new_id(), memory_id=memory.id)
