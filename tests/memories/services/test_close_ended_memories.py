"""Memories whose validity has ended are closed with their history, and remain true of their time."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from apps.memories.models import LedgerEntry, Memory, MemoryVersion
from apps.memories.services.lifecycle import close_ended_memories
from apps.memories.services.store import StoreRequest, store
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import Project

NOW = timezone.now()


def stored(project: Project, content: str, *, user_id: str = "ana", **values: Any) -> Memory:
    new = NewMemory(type=MemoryType.FACT, content=content, said_at=NOW - timedelta(days=9))
    request = StoreRequest(project_id=project.id, api_key_id=None, user_id=user_id, memories=(new,))
    found = Memory.objects.filter(id=store(request=request)[0])
    found.update(**values)
    return found.get()


@pytest.mark.parametrize(
    ("values", "closed"),
    [
        ({"valid_until": NOW - timedelta(hours=1)}, True),
        ({"valid_until": NOW + timedelta(hours=1)}, False),
        ({"valid_until": None}, False),
        ({"valid_until": NOW - timedelta(hours=1), "status": Status.ARCHIVED}, False),
    ],
)
def test_what_has_ended_is_closed(project, values: dict[str, Any], closed: bool) -> None:
    memory = stored(project, "Ana lives at Ivo's.", **values)
    assert close_ended_memories() == int(closed)
    memory.refresh_from_db()
    assert (memory.status == Status.SUPERSEDED) is closed
    assert close_ended_memories() == 0


def test_users_of_all_projects_are_served(project, other_project) -> None:
    ended = {"valid_until": NOW - timedelta(days=1)}
    stored(project, "A lamp.", **ended)
    stored(project, "A chair.", user_id="ben", **ended)
    stored(other_project, "A rug.", **ended)
    assert close_ended_memories() == 3


def test_history_and_ledger_say_so(project) -> None:
    memory = stored(project, "A lamp.", valid_until=NOW - timedelta(days=1))
    close_ended_memories()
    version = MemoryVersion.objects.get(memory=memory)
    assert (version.operation, version.values, version.actor) == ("ended", {"status": "active"}, "system")
    assert LedgerEntry.objects.filter(object_id=memory.id, verb="ended").count() == 1
