"""The contract of stores: the same tests run against the in-memory store and the PostgreSQL one."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from apps.pipeline.core.candidate_facts import candidate_confidence
from apps.pipeline.core.canonical import canonical_hash
from apps.pipeline.core.draft import Draft, KnownEntity, Request
from apps.pipeline.core.enums import (
    EntityType,
    Grounding,
    LinkKind,
    MemoryType,
    Polarity,
    Precision,
    Reason,
    SourceConfidence,
    SpeechAct,
    Status,
    WorkKind,
)
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import (
    AddAlias,
    AddEntity,
    AddMemory,
    CopyOrigins,
    CountAlias,
    EnqueueWork,
    FlagForReview,
    LinkMemories,
    MergeInto,
    Operation,
    PlannedOrigin,
    ReassignAlias,
    RemoveCopiedOrigins,
    RenameEntity,
    RestoreOrigins,
    ReviseEntity,
    ReviseMemory,
    SupersedeMemory,
    WithdrawOrigins,
)
from apps.pipeline.core.plan import WritePlan
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import MemoryReader, PlanWriter, Probe, RelevanceQuery, Slot, StalePlan
from apps.pipeline.core.statement import Candidate, Mention, ObjectValue, Statement, StoredMemory
from tests.pipeline.builders import MONDAY, candidate

EMBEDDER = "unit"
BERLIN = UUID(int=7)
LATER = MONDAY + timedelta(days=5)


@dataclass(frozen=True, slots=True)
class Row:
    """The stored state of one memory of any status."""

    status: Status
    version: int
    content: str
    confidence: float
    superseded_by: UUID | None
    valid_until: datetime | None
    review_reasons: tuple[str, ...]


class World(ABC):
    """A store with one end user, and the access to it that the contract needs."""

    reader: MemoryReader
    writer: PlanWriter
    end_user_id: UUID

    @abstractmethod
    def request(self, *contents: str, day: int = 0) -> Request:
        """Accept turns in a session of their own, said on one day."""

    @abstractmethod
    def put_vector(self, *, memory_id: UUID, vector: list[float]) -> None: ...

    @abstractmethod
    def row(self, memory_id: UUID) -> Row | None: ...

    @abstractmethod
    def links(self) -> set[tuple[UUID, UUID, LinkKind]]: ...

    @abstractmethod
    def queued(self) -> set[tuple[WorkKind, UUID]]: ...

    # Shared by all worlds.

    def write(self, request: Request, *operations: Operation) -> None:
        draft = Draft.start(request=request, policy=Policy())
        self.writer.apply(draft=draft, plan=WritePlan(operations=tuple(operations)))

    def entities(self) -> dict[str, KnownEntity]:
        return {each.name: each for each in self.reader.entities(end_user_id=self.end_user_id, limit=50)}

    def holders(self, subject_id: UUID, predicate: str) -> tuple[StoredMemory, ...]:
        slot = Slot(subject_id=subject_id, predicate=predicate)
        return self.reader.holders(end_user_id=self.end_user_id, slots=[slot])


def entity(name: str, *, kind: EntityType = EntityType.PERSON, **changes: Any) -> AddEntity:
    return AddEntity(entity=KnownEntity(**{"id": new_id(), "name": name, "type": kind, **changes}))


def told(request: Request, content: str, *, subject: AddEntity, **changes: Any) -> Candidate:
    mention = Mention(text=subject.entity.name, type=subject.entity.type, entity_id=subject.entity.id)
    return candidate(content, source=request.turns[0], subject=mention, **changes)


def full_statement(each: Candidate) -> Candidate:
    """Return a candidate none of whose fields has its default value."""
    changed = each.evolve(
        type=MemoryType.EVENT,
        polarity=Polarity.NEGATIVE,
        stateful=True,
        event_at=MONDAY,
        event_precision=Precision.WEEK,
        importance=0.7,
        topic="home",
        tags=("decision", "goal"),
        language="de",
        speech_act=SpeechAct.QUOTED,
        source_confidence=SourceConfidence.INFERRED,
        grounding=Grounding.PARTIAL,
        reliability=0.6,
        adjustment=-0.1,
    )
    unset = {field.name: field.default for field in fields(Statement)}
    assert not [name for name, value in changed.statement_fields().items() if name != "object" and value == unset[name]]
    return changed


def origins(request: Request) -> tuple[PlannedOrigin, ...]:
    return tuple(
        PlannedOrigin(turn=turn, session_id=request.origin.session_id, api_key_id=None, evidence=turn.content)
        for turn in request.turns
    )


def add(request: Request, each: Candidate, **changes: Any) -> AddMemory:
    draft = Draft.start(request=request, policy=Policy())
    given = {
        "memory_id": new_id(),
        "candidate": each,
        "origins": origins(request),
        "status": Status.ACTIVE,
        "confidence": candidate_confidence(draft, each),
        "canonical_hash": canonical_hash(each),
        "said_at": request.turns[0].said_at,
        "valid_from": request.turns[0].said_at,
    }
    return AddMemory(**{**given, **changes})


def merge(request: Request, each: Candidate, *, into: UUID, version: int = 1, content: str = "") -> MergeInto:
    draft = Draft.start(request=request, policy=Policy())
    return MergeInto(
        memory_id=into,
        expected_version=version,
        candidate=each,
        origins=origins(request),
        changes={"content": content} if content else {},
        promotes=False,
        confidence=candidate_confidence(draft, each),
        status=Status.ACTIVE,
        recurrence=2,
    )


def supersede(memory_id: UUID, *, by: UUID, version: int = 1) -> SupersedeMemory:
    return SupersedeMemory(memory_id=memory_id, expected_version=version, superseded_by=by, valid_until=LATER)


@dataclass(frozen=True, slots=True)
class Started:
    """A user who lives in Berlin."""

    request: Request
    user: AddEntity
    home: AddMemory

    @property
    def slot(self) -> tuple[UUID, str]:
        return self.user.entity.id, "lives_in"


def start(world: World) -> Started:
    request = world.request("I live in Berlin.")
    user = entity("User", is_user=True)
    home = add(request, told(request, "User lives in Berlin.", subject=user, predicate="lives_in", value="Berlin"))
    world.write(request, user, home)
    return Started(request=request, user=user, home=home)


class StoreContract:
    """Subclasses give the fixture `world`."""

    def test_a_memory_comes_back_as_it_was_written(self, world: World) -> None:
        started = start(world)
        (known,) = world.holders(*started.slot)
        written = started.home
        assert (known.id, known.version, known.status) == (written.memory_id, 1, Status.ACTIVE)
        assert (known.content, known.object_text, known.canonical_hash) == (
            "User lives in Berlin.", "Berlin", written.canonical_hash,
        )  # fmt: skip
        assert (known.said_at, known.valid_from, known.valid_until) == (MONDAY, MONDAY, None)
        assert known.confidence == pytest.approx(written.confidence.value)
        assert known.origins == ((str(started.request.origin.session_id), "2025-06-02"),)

    @pytest.mark.parametrize(
        "value",
        [
            ObjectValue(),
            ObjectValue(literal="Berlin"),
            ObjectValue(items=("Berlin", "Kiel")),
            ObjectValue(entity=Mention(text="Berlin", entity_id=BERLIN)),
        ],
    )
    def test_every_field_of_a_statement_comes_back(self, world: World, value: ObjectValue) -> None:
        request, user = world.request("I live in Berlin."), entity("User", is_user=True)
        each = full_statement(told(request, "User lives in Berlin.", subject=user, object=value))
        berlin = entity("Berlin", kind=EntityType.PLACE, id=BERLIN)
        world.write(request, user, berlin, add(request, each))
        (known,) = world.holders(user.entity.id, each.predicate)
        subject = Mention(text="", entity_id=user.entity.id)
        assert known.statement_fields() == {**each.statement_fields(), "subject": subject}

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

    def test_another_slot_holds_nothing(self, world: World) -> None:
        started = start(world)
        assert world.holders(started.user.entity.id, "works_at") == ()
        assert world.holders(new_id(), "lives_in") == ()
        assert world.reader.holders(end_user_id=world.end_user_id, slots=[]) == ()

    def test_another_end_user_sees_nothing(self, world: World) -> None:
        started = start(world)
        stranger = new_id()
        slot = Slot(subject_id=started.user.entity.id, predicate="lives_in")
        probe = Probe(canonical_hash=started.home.canonical_hash, vector=[1.0, 0.0])
        assert world.reader.holders(end_user_id=stranger, slots=[slot]) == ()
        assert world.reader.entities(end_user_id=stranger, limit=5) == ()
        assert world.reader.neighbours(end_user_id=stranger, embedder=EMBEDDER, probes=[probe], limit=5) == [[]]

    def test_a_newer_value_closes_the_older_one(self, world: World) -> None:
        started = start(world)
        request = world.request("I moved to Munich.", day=5)
        each = told(request, "User lives in Munich.", subject=started.user, predicate="lives_in", value="Munich")
        munich = add(request, each)
        world.write(request, munich, supersede(started.home.memory_id, by=munich.memory_id))
        assert [each.object_text for each in world.holders(*started.slot)] == ["Munich"]
        closed = world.row(started.home.memory_id)
        assert closed is not None
        assert (closed.status, closed.version, closed.superseded_by, closed.valid_until) == (
            Status.SUPERSEDED, 2, munich.memory_id, LATER,
        )  # fmt: skip

    def test_a_merge_adds_a_source_and_takes_the_better_wording(self, world: World) -> None:
        started = start(world)
        request = world.request("I live in Berlin-Mitte.", day=1)
        each = told(request, "User lives in Berlin-Mitte.", subject=started.user, predicate="lives_in", value="Berlin")
        world.write(request, merge(request, each, into=started.home.memory_id, content=each.content))
        (known,) = world.holders(*started.slot)
        assert (known.version, known.content) == (2, "User lives in Berlin-Mitte.")
        assert {day for _, day in known.origins} == {"2025-06-02", "2025-06-03"}

    def test_one_plan_may_merge_into_a_memory_and_close_it(self, world: World) -> None:
        started = start(world)
        request = world.request("I lived in Berlin, now in Munich.", day=5)
        again = told(request, "User lives in Berlin.", subject=started.user, predicate="lives_in", value="Berlin")
        munich = add(
            request, told(request, "User lives in Munich.", subject=started.user, predicate="lives_in", index=1)
        )
        world.write(
            request,
            merge(request, again, into=started.home.memory_id),
            munich,
            supersede(started.home.memory_id, by=munich.memory_id),
        )
        closed = world.row(started.home.memory_id)
        assert closed is not None
        assert (closed.status, closed.version) == (Status.SUPERSEDED, 3)

    def test_one_plan_may_close_what_it_adds(self, world: World) -> None:
        started = start(world)
        request = world.request("I moved to Kiel, then to Munich.", day=5)
        kiel = add(request, told(request, "User lives in Kiel.", subject=started.user, predicate="lives_in"))
        munich = add(
            request, told(request, "User lives in Munich.", subject=started.user, predicate="lives_in", index=1)
        )
        world.write(request, kiel, munich, supersede(kiel.memory_id, by=munich.memory_id))
        closed = world.row(kiel.memory_id)
        assert closed is not None
        assert closed.status is Status.SUPERSEDED

    @pytest.mark.parametrize("change", ["supersede", "merge", "revise"])
    @pytest.mark.parametrize("absent", [False, True])
    def test_a_stale_plan_writes_nothing(self, world: World, change: str, absent: bool) -> None:
        started = start(world)
        request = world.request("I moved to Munich.", day=5)
        each = told(request, "User lives in Munich.", subject=started.user, predicate="lives_in")
        munich, friend = add(request, each), entity("Lena")
        target, version = (new_id(), 1) if absent else (started.home.memory_id, 7)
        stale = {
            "supersede": supersede(target, by=munich.memory_id, version=version),
            "merge": merge(request, each, into=target, version=version),
            "revise": ReviseMemory(
                memory_id=target, expected_version=version, verb="revised", changes={"content": "User naps."}
            ),
        }[change]
        operations = [friend, stale] if change == "merge" else [friend, munich, stale]
        with pytest.raises(StalePlan):
            world.write(request, *operations)
        assert world.row(munich.memory_id) is None
        assert set(world.entities()) == {"User"}
        assert [known.version for known in world.holders(*started.slot)] == [1]

    def test_what_is_live_is_not_written_again(self, world: World) -> None:
        started = start(world)
        request = world.request("I live in Berlin.", day=1)
        each = told(request, "User lives in Berlin.", subject=started.user, predicate="lives_in", value="Berlin")
        again, friend = add(request, each), entity("Lena")
        with pytest.raises(StalePlan):
            world.write(request, friend, again)
        assert world.row(again.memory_id) is None
        assert set(world.entities()) == {"User"}

    def test_what_was_is_written_again(self, world: World) -> None:
        started = start(world)
        request, later = world.request("I moved to Munich.", day=1), world.request("I live in Berlin.", day=2)
        munich = add(request, told(request, "User lives in Munich.", subject=started.user, predicate="lives_in"))
        world.write(request, munich, supersede(started.home.memory_id, by=munich.memory_id))
        back = told(later, "User lives in Berlin.", subject=started.user, predicate="lives_in", value="Berlin")
        world.write(later, berlin := add(later, back))
        assert world.row(berlin.memory_id) is not None

    def test_two_may_swap_their_hashes(self, world: World) -> None:
        started = start(world)
        request = world.request("I work at Acme.", day=1)
        work = add(request, told(request, "User works at Acme.", subject=started.user, predicate="works_at"))
        world.write(request, work)
        swapped = {started.home.memory_id: work.canonical_hash, work.memory_id: started.home.canonical_hash}
        revisions = [
            ReviseMemory(memory_id, 1, verb="revised", changes={"canonical_hash": found})
            for memory_id, found in swapped.items()
        ]
        world.write(request, *revisions)
        (home,), (job,) = world.holders(*started.slot), world.holders(started.user.entity.id, "works_at")
        assert {home.id: home.canonical_hash, job.id: job.canonical_hash} == swapped

    def test_a_revision_changes_named_fields(self, world: World) -> None:
        started = start(world)
        request = world.request("Forget that.", day=2)
        revision = ReviseMemory(
            memory_id=started.home.memory_id,
            expected_version=1,
            verb="retracted",
            changes={"status": Status.RETRACTED, "valid_until": LATER},
        )
        world.write(request, revision)
        row = world.row(started.home.memory_id)
        assert row is not None
        assert (row.status, row.version, row.valid_until, row.content) == (
            Status.RETRACTED, 2, LATER, "User lives in Berlin.",
        )  # fmt: skip
        assert world.holders(*started.slot) == ()

    def test_links_reasons_and_queued_work_are_stored(self, world: World) -> None:
        started = start(world)
        request = world.request("I may live in Munich.", day=5)
        each = told(request, "User lives in Munich.", subject=started.user, predicate="lives_in")
        doubtful = add(request, each, status=Status.PENDING_REVIEW)
        link = LinkMemories(from_id=doubtful.memory_id, to_id=started.home.memory_id, kind=LinkKind.CONTRADICTS)
        reason = FlagForReview(memory_id=doubtful.memory_id, reason=Reason.NOT_ASSERTED)
        work = EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=doubtful.memory_id)
        world.write(request, doubtful, link, link, reason, work)
        row = world.row(doubtful.memory_id)
        assert row is not None
        assert (row.status, row.review_reasons) == (Status.PENDING_REVIEW, (Reason.NOT_ASSERTED,))
        assert world.links() == {(doubtful.memory_id, started.home.memory_id, LinkKind.CONTRADICTS)}
        assert (WorkKind.INDEX_MEMORY, doubtful.memory_id) in world.queued()

    def test_sources_are_handed_over_and_given_back(self, world: World) -> None:
        started = start(world)
        request = world.request("My home is Berlin.", day=5)
        duplicate = add(request, told(request, "User's home is Berlin.", subject=started.user))
        world.write(request, duplicate)
        home, twin_id = started.home.memory_id, duplicate.memory_id
        world.write(world.request("-", day=6), CopyOrigins(memory_id=home, from_id=twin_id))
        (known,) = world.holders(*started.slot)
        assert [day for _, day in sorted(known.origins, key=lambda each: each[1])] == ["2025-06-02", "2025-06-07"]
        world.write(world.request("-", day=6), RemoveCopiedOrigins(memory_id=home, from_id=twin_id, since=MONDAY))
        (known,) = world.holders(*started.slot)
        assert [day for _, day in known.origins] == ["2025-06-02"]

    def test_sources_are_withdrawn_and_restored(self, world: World) -> None:
        anna, first, second = entity("Anna"), world.request("first"), world.request("second", day=1)
        kept = add(first, told(first, "Anna lives in Bonn.", subject=anna, predicate="lives_in"))
        world.write(first, anna, kept)
        repeated = told(second, "Anna lives in Bonn.", subject=anna, predicate="lives_in")
        world.write(second, merge(second, repeated, into=kept.memory_id))
        turns = (second.turns[0].id,)

        def sources() -> int:
            return len(world.reader.one(end_user_id=world.end_user_id, memory_id=kept.memory_id).origins)

        assert sources() == 2
        world.write(second, WithdrawOrigins(kept.memory_id, turns))
        assert sources() == 1
        world.write(second, RestoreOrigins(kept.memory_id, turns))
        assert sources() == 2

    def test_entities_are_withdrawn_and_restored(self, world: World) -> None:
        anna = entity("Anna", aliases=("Anna", "User's sister"))
        world.write(world.request("first"), anna)
        withdrawn = ReviseEntity(anna.entity.id, name="Ann", withdrawn=True)
        world.write(world.request("second"), withdrawn)
        assert world.entities() == {}

        restored = ReviseEntity(anna.entity.id, mentions=2, withdrawn=False)
        world.write(world.request("third"), restored, CountAlias(anna.entity.id, "Annie", uses=1))

        found = world.entities()["Ann"]
        assert (found.id, found.mention_count) == (anna.entity.id, 2)
        assert set(found.aliases) == {"Anna", "User's sister", "Annie"}

    def test_entities_come_user_first_then_by_mention(self, world: World) -> None:
        started = start(world)
        first, second = world.request("Lena naps.", day=3), world.request("Tom naps.", day=2)
        lena, tom = entity("Lena"), entity("Tom", aliases=("User's brother",))
        world.write(first, lena, add(first, told(first, "Lena naps.", subject=lena)))
        world.write(second, tom, add(second, told(second, "Tom naps.", subject=tom)))
        assert list(world.entities()) == ["User", "Lena", "Tom"]
        assert world.entities()["Tom"].aliases == ("User's brother",)
        assert world.entities()["Lena"].mention_count == 1
        assert world.entities()["Lena"].last_mentioned_at == MONDAY + timedelta(days=3)
        assert len(world.reader.entities(end_user_id=world.end_user_id, limit=2)) == 2
        assert world.entities()["User"].id == started.user.entity.id

    def test_an_alias_is_kept_once(self, world: World) -> None:
        started = start(world)
        alias = AddAlias(entity_id=started.user.entity.id, alias="Annie")
        for _ in range(2):
            world.write(world.request("Call me Annie."), alias)
        assert world.entities()["User"].aliases == ("Annie",)

    def test_names_come_in_the_order_of_their_uses(self, world: World) -> None:
        started = start(world)
        for name in ("Annie", "Nan", "Nan"):
            world.write(world.request(name), AddAlias(entity_id=started.user.entity.id, alias=name))
        assert world.entities()["User"].aliases == ("Nan", "Annie")

    def test_entities_that_were_mentioned_together_come_in_the_order_of_their_ids(self, world: World) -> None:
        added = [entity(name) for name in ("Lena", "Tom", "Ida")]
        world.write(world.request("Lena, Tom and Ida."), *reversed(added))
        assert list(world.entities()) == ["Lena", "Tom", "Ida"]

    def test_a_memory_takes_topic_and_metadata_of_its_request(self, world: World) -> None:
        started = start(world)
        request = replace(world.request("I like tea."), topic="food", metadata={"agent": "cook"})
        tea = add(request, told(request, "User likes tea.", subject=started.user))
        world.write(request, tea)
        stored = world.reader.one(end_user_id=world.end_user_id, memory_id=tea.memory_id)
        assert (stored.topic, stored.metadata) == ("food", {"agent": "cook"})

    def test_a_description_passes_from_one_to_another(self, world: World) -> None:
        request = world.request("Bob was my manager, Priya is now.")
        bob, priya = entity("Bob", aliases=("User's manager", "Bobby")), entity("Priya")
        world.write(request, bob, priya)
        world.write(
            world.request("Priya is my manager."), ReassignAlias(entity_id=priya.entity.id, alias="User's manager")
        )
        assert world.entities()["Bob"].aliases == ("Bobby",)
        assert world.entities()["Priya"].aliases == ("User's manager",)

    def test_a_renamed_entity_keeps_its_former_name(self, world: World) -> None:
        started = start(world)
        world.write(world.request("I am Ana."), RenameEntity(entity_id=started.user.entity.id, name="Ana"))
        ana = world.entities()["Ana"]
        assert (ana.id, ana.aliases, ana.is_user) == (started.user.entity.id, ("User",), True)

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

    def test_entities_come_with_memories(self, world: World) -> None:
        start(world)
        entities, _ = world.reader.all_if_few(end_user_id=world.end_user_id, entities=5, memories=0)
        assert entities == world.reader.entities(end_user_id=world.end_user_id, limit=5) != ()
        assert world.reader.all_if_few(end_user_id=new_id(), entities=5, memories=15) == ((), ())

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
