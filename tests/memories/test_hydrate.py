"""Found memories are read by a statement of their own, and look as the ORM reads them."""

from typing import Any

from django.db.models import Model

from apps.actions.memories.store import StoreRequest, store
from apps.memories.models import Memory
from apps.memories.reading.hydrate import read_memories
from apps.pipeline.core.enums import MemoryType
from apps.pipeline.core.statement import Mention
from apps.pipeline.direct_write.new_memory import NewMemory


def _values(row: Model) -> dict[str, Any]:
    return {name: value for name, value in vars(row).items() if name != "_state"}


def test_they_are_what_the_orm_reads(project, ana) -> None:
    full = NewMemory(
        type=MemoryType.FACT,
        content="Lena lives in Rome.",
        subject=Mention("Lena"),
        predicate="lives_in",
        tags=("home", "city"),
        metadata={"deep": {"list": [1, None, "ü"]}},
    )
    bare = NewMemory(type=MemoryType.EVENT, content="It rained.")
    store(request=StoreRequest(project_id=project.id, api_key_id=None, user_id="ana", memories=(full, bare)))
    by_orm = Memory.objects.for_end_user(ana).to_show().in_bulk()
    read = read_memories(end_user_id=ana, ids=list(by_orm))
    assert len(read) == 2
    for memory_id, expected in by_orm.items():
        found = read[memory_id].memory
        assert _values(found) == _values(expected)
        assert found.get_deferred_fields() == expected.get_deferred_fields()
        assert found._state.db == expected._state.db
        assert not found._state.adding
        for name in ("end_user", "subject", "session"):
            assert getattr(found, name) == getattr(expected, name)


def test_they_come_with_what_belongs_to_them(remember, ana) -> None:
    memory = remember("Lena lives in Rome.", subject="Lena")
    found = read_memories(end_user_id=ana, ids=[memory.id])[memory.id].memory
    assert (found.subject.name, found.end_user.external_id, found.session) == ("Lena", "ana", None)


def test_those_of_others_are_left_out(remember, ana) -> None:
    assert read_memories(end_user_id=ana, ids=[remember("It rained.", user_id="ben").id]) == {}
