"""Concurrent direct stores and their results."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from apps.memories.models import Entity, LedgerEntry, Memory
from apps.memories.services.revising import Revision, revise
from apps.memories.services.store import StoreRequest, store
from apps.outbox.models import OutboxRow
from apps.pipeline.core.enums import MemoryType, Status
from apps.pipeline.core.input_validation import BadInput
from apps.pipeline.core.statement import Mention, ObjectValue
from apps.pipeline.direct_write.new_memory import NewMemory
from apps.tenants.models import EndUser, Project
from apps.traces.models import Session

WAITS = Status.PENDING_REVIEW


def asked(project: Project, *memories: NewMemory) -> StoreRequest:
    return StoreRequest(project_id=project.id, api_key_id=None, user_id="ana", memories=memories)


def fact(content: str, **more: Any) -> NewMemory:
    return NewMemory(type=MemoryType.FACT, content=content, **more)


def test_identifiers_come_back_in_the_order_of_the_request(project: Project) -> None:
    ids = store(request=asked(project, fact("One.", session_id="a"), fact("Two."), fact("Three.", session_id="a")))

    assert [Memory.objects.get(id=each).content for each in ids] == ["One.", "Two.", "Three."]
    assert list(Memory.objects.order_by("id").values_list("session__external_id", flat=True)) == ["a", None, "a"]
    assert Session.objects.count() == 1
    assert OutboxRow.objects.count() == LedgerEntry.objects.filter(object_kind="memory").count() == 3


def test_a_successor_must_be_of_the_same_end_user(project: Project) -> None:
    (successor,) = store(request=asked(project, fact("New.")))
    old = fact("Old.", status=Status.SUPERSEDED, superseded_by=successor, valid_until=Memory.objects.get().valid_from)

    with pytest.raises(BadInput):
        store(request=asked(project, fact("Old.", superseded_by=successor)))
    (stored,) = store(request=asked(project, fact("Older.", said_at=EndUser.objects.get().created_at), old))[1:]

    assert Memory.objects.get(id=stored).superseded_by_id == successor


def at_once(do: Callable[[int], object]) -> None:
    """Run a function in eight threads at the same time. Raises the first error."""
    errors: list[BaseException] = []
    gate = threading.Barrier(8)

    def run(number: int) -> None:
        try:
            gate.wait(timeout=120)
            do(number)
        except BaseException as error:  # noqa: BLE001  (a thread's error must reach the test)
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@pytest.mark.django_db(transaction=True)
def test_stores_at_once_make_one_user_and_one_entity(project: Project) -> None:
    at_once(lambda number: store(request=asked(project, fact(f"Fact {number}.", subject=Mention("Priya")))))
    assert (EndUser.objects.count(), Entity.objects.count(), Memory.objects.count()) == (1, 1, 8)


@pytest.mark.django_db(transaction=True)
def test_the_same_memory_stored_at_once_is_stored_once(project: Project) -> None:
    at_once(lambda _: store(request=asked(project, fact("Ana is tall."))))
    assert Memory.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_values_approved_at_once_leave_one(project: Project) -> None:
    waiting = [
        fact(
            f"Ana lives in town {n}.",
            subject=Mention("User"),
            predicate="lives_in",
            object=ObjectValue(literal=f"town {n}"),
            stateful=True,
            status=WAITS,
        )
        for n in range(8)
    ]
    ids = store(request=asked(project, *waiting))
    at_once(
        lambda number: revise(revision=Revision(project.id, ids[number], {"status": Status.ACTIVE}, may_review=True))
    )
    assert Memory.objects.filter(status=Status.ACTIVE).count() == 1
