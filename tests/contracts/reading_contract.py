"""The contract of stores: which memories are read for a turn."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.core.agent_scope import AgentScope
from apps.pipeline.core.draft import KnownEntity
from apps.pipeline.core.enums import (
    EntityType,
    Status,
)
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import (
    AddAlias,
    AddEntity,
    ReviseMemory,
)
from apps.pipeline.core.ports import Probe, RelevanceQuery, Slot
from tests.contracts.store_world import (
    EMBEDDER,
    MONDAY,
    World,
    add,
    start,
    told,
)


class ReadingContract:
    """Duplicates, slots, relevant memories and neighbours; subclasses give the fixture `world`."""

    def test_duplicates_are_live_memories_of_a_hash_or_a_wording(self, world: World) -> None:
        started = start(world)
        second, third = world.request("I like tea.", day=2), world.request("I like jam.", day=1)
        tea = add(second, told(second, "User likes tea.", subject=started.user, value="tea"))
        jam = add(third, told(third, "User likes jam.", subject=started.user, value="jam"))
        world.write(second, tea)
        world.write(third, jam)

        def found(hashes: Iterable[str] = (), contents: Iterable[str] = (), *, user: UUID | None = None) -> list[str]:
            memories = world.reader.duplicates(
                end_user_id=user or world.end_user_id, hashes=list(hashes), contents=list(contents)
            )
            return [each.content for each in memories]

        hashes = [tea.canonical_hash, jam.canonical_hash]
        assert found(hashes) == ["User likes jam.", "User likes tea."]
        assert found(hashes[:1], ["User lives in Berlin."]) == ["User lives in Berlin.", "User likes tea."]
        assert found(hashes, ["User likes tea."]) == ["User likes jam.", "User likes tea."]
        assert found(["0" * 32], ["User likes"]) == found() == found(hashes, user=new_id()) == []
        closing = ReviseMemory(
            memory_id=tea.memory_id, expected_version=1, verb="retracted", changes={"status": Status.RETRACTED}
        )
        world.write(world.request("Forget the tea."), closing)
        assert found(hashes) == ["User likes jam."]

    def test_one_memory_is_found_live_or_not(self, world: World) -> None:
        started = start(world)
        memory_id = started.home.memory_id
        (held,) = world.holders(*started.slot)
        assert world.reader.one(end_user_id=world.end_user_id, memory_id=memory_id) == held
        closing = ReviseMemory(
            memory_id=memory_id, expected_version=1, verb="retracted", changes={"status": Status.RETRACTED}
        )
        world.write(world.request("Forget that."), closing)
        retracted = world.reader.one(end_user_id=world.end_user_id, memory_id=memory_id)
        assert (retracted.status, retracted.version) == (Status.RETRACTED, 2)

    def test_one_memory_of_nobody_is_not_found(self, world: World) -> None:
        memory_id = start(world).home.memory_id
        with pytest.raises(LookupError):
            world.reader.one(end_user_id=world.end_user_id, memory_id=new_id())
        with pytest.raises(LookupError):
            world.reader.one(end_user_id=new_id(), memory_id=memory_id)

    def test_another_end_user_sees_nothing(self, world: World) -> None:
        started = start(world)
        stranger = new_id()
        slot = Slot(subject_id=started.user.entity.id, predicate="lives_in")
        probe = Probe(canonical_hash=started.home.canonical_hash, vector=[1.0, 0.0])
        assert world.reader.holders(end_user_id=stranger, slots=[slot]) == ()
        assert world.reader.entities(end_user_id=stranger, limit=5) == ()
        assert world.reader.neighbours(end_user_id=stranger, embedder=EMBEDDER, probes=[probe], limit=5) == [[]]

    def test_relevant_memories_are_live_and_the_nearest_come_first(self, world: World) -> None:
        started = start(world)
        first, second = world.request("I like tea."), world.request("I like jam.")
        tea = add(first, told(first, "User likes tea.", subject=started.user))
        jam = add(second, told(second, "User likes jam.", subject=started.user))
        world.write(first, tea)
        world.write(second, jam)
        for memory_id, vector in ((started.home.memory_id, [0.0, 1.0]), (tea.memory_id, [1.0, 0.0])):
            world.put_vector(memory_id=memory_id, vector=vector)

        assert self._relevant(world, vector=[0.9, 0.1]) == [
            "User likes tea.",
            "User lives in Berlin.",
            "User likes jam.",
        ]
        assert self._relevant(world, vector=[0.9, 0.1], limit=1) == ["User likes tea."]
        assert self._relevant(world, vector=[0.9, 0.1], limit=0) == []

        closing = ReviseMemory(
            memory_id=tea.memory_id, expected_version=1, verb="retracted", changes={"status": Status.RETRACTED}
        )
        world.write(world.request("Forget the tea."), closing)
        assert "User likes tea." not in self._relevant(world, vector=[0.9, 0.1])

    def test_memories_about_a_named_entity_are_relevant(self, world: World) -> None:
        started = start(world)
        lena = AddEntity(KnownEntity(id=new_id(), name="Lena", type=EntityType.PERSON))
        request = world.request("Lena lives in Rome.")
        rome = add(request, told(request, "Lena lives in Rome.", subject=lena))
        world.write(request, lena, AddAlias(entity_id=lena.entity.id, alias="Lena"), rome)
        for memory_id in (started.home.memory_id, rome.memory_id):
            world.put_vector(memory_id=memory_id, vector=[0.0, 1.0])

        assert self._relevant(world, vector=[1.0, 0.0], text="How is Lena?")[0] == "Lena lives in Rome."

    def test_coming_events_are_relevant(self, world: World) -> None:
        started = start(world)
        for content, days in (("User has an exam.", 5), ("User has a party.", 3), ("User saw a play.", -9)):
            request = world.request(content)
            said = told(request, content, subject=started.user, event_at=MONDAY + timedelta(days=days))
            memory = add(request, said)
            world.write(request, memory)
            world.put_vector(memory_id=memory.memory_id, vector=[0.0, 1.0])
        query = RelevanceQuery(
            end_user_id=world.end_user_id, session_id=new_id(), embedder=EMBEDDER, vectors=(), text="", now=MONDAY
        )
        found = [each.content for each in world.reader.relevant(query=query, memories=2)]
        assert found == ["User has a party.", "User has an exam."]

    def test_few_memories_are_all_read_the_latest_first(self, world: World) -> None:
        started = start(world)
        request = world.request("I like tea.")
        tea = add(request, told(request, "User likes tea.", subject=started.user))
        world.write(request, tea)
        _, memories = world.reader.all_if_few(end_user_id=world.end_user_id, entities=5, memories=2)
        assert [each.content for each in memories or ()] == ["User likes tea.", "User lives in Berlin."]
        assert world.reader.all_if_few(end_user_id=world.end_user_id, entities=5, memories=1)[1] is None

        closing = ReviseMemory(
            memory_id=tea.memory_id, expected_version=1, verb="retracted", changes={"status": Status.RETRACTED}
        )
        world.write(world.request("Forget the tea."), closing)
        _, memories = world.reader.all_if_few(end_user_id=world.end_user_id, entities=5, memories=1)
        assert [each.content for each in memories or ()] == ["User lives in Berlin."]

    def _relevant(self, world: World, *, vector: list[float], text: str = "", limit: int = 15) -> list[str]:
        query = RelevanceQuery(
            end_user_id=world.end_user_id, session_id=new_id(), embedder=EMBEDDER, vectors=(vector,), text=text
        )
        return [each.content for each in world.reader.relevant(query=query, memories=limit)]

    def test_private_memories_are_read_for_their_agent_alone(self, world: World) -> None:
        started = start(world)
        scope, home = AgentScope(agent_id="a1", run_id="r1"), started.home
        same = add(started.request, home.candidate.evolve(index=1), private_to="a1", agent_scope=scope)
        world.write(started.request, same)
        mine = {"end_user_id": world.end_user_id, "embedder": EMBEDDER}
        slot, probe = Slot(*started.slot), Probe(canonical_hash=home.canonical_hash, vector=[1.0, 0.0])
        for private_to, expected in (("", [home.memory_id]), ("a1", [same.memory_id]), ("a2", [])):
            query = RelevanceQuery(session_id=new_id(), vectors=([1.0, 0.0],), text="", private_to=private_to, **mine)
            reader, apart = world.reader, {"end_user_id": world.end_user_id, "private_to": private_to}
            (near,) = reader.neighbours(probes=[probe], limit=5, private_to=private_to, **mine)
            for memories in (
                reader.duplicates(hashes=[home.canonical_hash], contents=[], **apart),
                reader.holders(slots=[slot], ids=[home.memory_id, same.memory_id], **apart),
                reader.all_if_few(entities=5, memories=5, **apart)[1] or (),
                reader.relevant(query=query, memories=5),
                [each.memory for each in near],
            ):
                assert [each.id for each in memories] == expected
        known = world.reader.one(end_user_id=world.end_user_id, memory_id=same.memory_id)
        assert (known.private_to, known.source.scope) == ("a1", scope)

    def test_neighbours_are_equal_hashes_then_the_unindexed_then_the_nearest(self, world: World) -> None:
        started = start(world)
        vectors: Iterable[tuple[str, list[float] | None]] = (
            ("User naps.", [1.0, 0.0]), ("User sings.", [0.6, 0.8]), ("User runs.", None),
        )  # fmt: skip
        for day, (content, vector) in enumerate(vectors):
            request = world.request(content, day=day)
            memory = add(request, told(request, content, subject=started.user, predicate="does", value=content))
            world.write(request, memory)
            if vector:
                world.put_vector(memory_id=memory.memory_id, vector=vector)
        world.put_vector(memory_id=started.home.memory_id, vector=[0.0, 1.0])
        probe = Probe(canonical_hash=started.home.canonical_hash, vector=[1.0, 0.0])
        (found,) = world.reader.neighbours(end_user_id=world.end_user_id, embedder=EMBEDDER, probes=[probe], limit=4)
        assert [each.memory.content for each in found] == [
            "User lives in Berlin.", "User runs.", "User naps.", "User sings.",
        ]  # fmt: skip
        assert [each.cosine for each in found] == [
            pytest.approx(0.0, abs=0.01), None, pytest.approx(1.0, abs=0.01), pytest.approx(0.6, abs=0.01),
        ]  # fmt: skip

    def test_neighbours_are_live_and_few(self, world: World) -> None:
        started = start(world)
        same = Probe(canonical_hash="0" * 32, vector=[1.0, 0.0])
        assert [len(found) for found in self._near(world, same, same)] == [1, 1]
        closing = ReviseMemory(
            memory_id=started.home.memory_id, expected_version=1, verb="retracted", changes={"status": Status.RETRACTED}
        )
        world.write(world.request("Forget that."), closing)
        assert self._near(world, same) == [[]]
        assert self._near(world) == []

    def test_a_vector_of_another_embedder_is_no_vector(self, world: World) -> None:
        started = start(world)
        world.put_vector(memory_id=started.home.memory_id, vector=[1.0, 0.0])
        probe = Probe(canonical_hash="0" * 32, vector=[1.0, 0.0])
        ((found,),) = world.reader.neighbours(
            end_user_id=world.end_user_id, embedder="another", probes=[probe], limit=5
        )
        assert found.cosine is None

    def test_the_same_sentence_comes_before_what_is_near(self, world: World) -> None:
        started = start(world)
        request = world.request("User naps.", day=1)
        naps = add(request, told(request, "User naps.", subject=started.user, predicate="does", value="naps"))
        world.write(request, naps)
        world.put_vector(memory_id=started.home.memory_id, vector=[1.0, 0.0])
        world.put_vector(memory_id=naps.memory_id, vector=[0.0, 1.0])
        probe = Probe(canonical_hash="0" * 32, vector=[1.0, 0.0], content="User naps.")
        ((found,),) = world.reader.neighbours(end_user_id=world.end_user_id, embedder=EMBEDDER, probes=[probe], limit=1)
        assert found.memory.content == "User naps."

    def test_who_holds_the_hash_comes_before_all_who_say_the_same(self, world: World) -> None:
        started = start(world)
        for number in range(7):  # on seven days, each under a hash of its own
            request = world.request("User naps.", day=number)
            holder = add(
                request, told(request, "User naps.", subject=started.user, predicate="naps", value=f"{number}")
            )
            world.write(request, holder)
        probe = Probe(canonical_hash=holder.canonical_hash, vector=[1.0, 0.0], content="User naps.")
        assert [near[0].memory.id for near in self._near(world, probe)] == [holder.memory_id]

    @staticmethod
    def _near(world: World, *probes: Probe) -> list[Any]:
        return world.reader.neighbours(end_user_id=world.end_user_id, embedder=EMBEDDER, probes=probes, limit=5)
