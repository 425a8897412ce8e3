"""The PostgreSQL store fulfils the contract of stores."""

from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from apps.memories.models import Memory, MemoryLink, MemoryVector
from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import PostgresPlanWriter
from apps.outbox.models import OutboxRow
from apps.pipeline.core.draft import Origin, Request
from apps.pipeline.core.enums import LinkKind, Reason, Role, Status, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.operations import (
    CopyOrigins,
    CountAlias,
    EnqueueWork,
    FlagForReview,
    LinkMemories,
    MarkOrigins,
    RemoveCopiedOrigins,
    ReviseEntity,
)
from apps.pipeline.core.turn import SourceTurn
from apps.projects.services import create_project
from apps.tenants.models import EndUser
from apps.traces.models import ConfigurationVersion, Session, Trace, Turn
from tests.contracts.store_contract import StoreContract
from tests.contracts.store_world import EMBEDDER, World, add, entity, merge, start, supersede, told
from tests.pipeline.builders import MONDAY


class PostgresWorld(World):
    def __init__(self) -> None:
        self.reader, self.writer = PostgresMemoryReader(), PostgresPlanWriter()
        self.project = create_project(name="Contract", slug="contract")
        self.configuration = ConfigurationVersion.objects.get(project=self.project, is_active=True)
        self.end_user_id = new_id()
        EndUser.objects.create(id=self.end_user_id, project=self.project, external_id="ana")

    def request(self, *contents: str, day: int = 0) -> Request:
        session = Session.objects.create(
            id=new_id(), end_user_id=self.end_user_id, project=self.project, external_id=str(new_id())
        )
        trace = Trace.objects.create(
            end_user_id=self.end_user_id, project=self.project, session=session, configuration=self.configuration
        )
        said_at = MONDAY + timedelta(days=day)
        rows = Turn.objects.bulk_create(
            Turn(
                end_user_id=self.end_user_id,
                session=session,
                trace=trace,
                position=place,
                role=Role.USER,
                content=content,
                received_at=timezone.now(),
                occurred_at=said_at,
            )
            for place, content in enumerate(contents)
        )
        origin = Origin(project_id=self.project.id, end_user_id=self.end_user_id, session_id=session.id)
        return Request(trace_id=trace.id, origin=origin, turns=tuple(map(_source_turn, rows)))

    def put_vector(self, *, memory_id: UUID, vector: list[float]) -> None:
        MemoryVector.objects.create(
            end_user_id=self.end_user_id,
            memory_id=memory_id,
            embedder=EMBEDDER,
            dimension=len(vector),
            embedding=vector,
        )


def _source_turn(row: Turn) -> SourceTurn:
    return SourceTurn(
        id=row.id,
        position=row.position,
        role=Role(row.role),
        content=row.content,
        received_at=row.received_at,
        occurred_at=row.occurred_at,
    )


@pytest.mark.django_db
class TestPostgresStore(StoreContract):
    @pytest.fixture
    def world(self) -> World:
        return PostgresWorld()

    def test_links_and_reasons_are_stored(self, world: World) -> None:
        started = start(world)
        request = world.request("I may live in Munich.", day=5)
        each = told(request, "User lives in Munich.", subject=started.user, predicate="lives_in")
        doubtful = add(request, each, status=Status.PENDING_REVIEW)
        link = LinkMemories(from_id=doubtful.memory_id, to_id=started.home.memory_id, kind=LinkKind.CONTRADICTS)
        reason = FlagForReview(memory_id=doubtful.memory_id, reason=Reason.NOT_ASSERTED)
        world.write(request, doubtful, link, link, reason)
        row = Memory.objects.get(id=doubtful.memory_id)
        assert (row.status, row.review_reasons) == (Status.PENDING_REVIEW, [Reason.NOT_ASSERTED])
        (stored,) = MemoryLink.objects.filter(end_user_id=world.end_user_id)
        assert (stored.from_memory_id, stored.to_memory_id, stored.kind) == (link.from_id, link.to_id, link.kind)

    def test_what_is_closed_names_its_successor(self, world: World) -> None:
        started, request = start(world), world.request("I moved to Munich.", day=5)
        munich = add(request, told(request, "User lives in Munich.", subject=started.user, predicate="lives_in"))
        world.write(request, munich, supersede(started.home.memory_id, by=munich.memory_id))
        assert Memory.objects.get(id=started.home.memory_id).superseded_by_id == munich.memory_id

    def test_work_is_queued(self, world: World) -> None:
        memory_id = start(world).home.memory_id
        world.write(world.request("x"), EnqueueWork(kind=WorkKind.INDEX_MEMORY, memory_id=memory_id))
        rows = OutboxRow.objects.filter(end_user_id=world.end_user_id, subject_id=memory_id)
        assert [row.kind for row in rows] == [WorkKind.INDEX_MEMORY]

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
        world.write(second, MarkOrigins(kept.memory_id, turns, withdrawn=True))
        assert sources() == 1
        world.write(second, MarkOrigins(kept.memory_id, turns, withdrawn=False))
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
