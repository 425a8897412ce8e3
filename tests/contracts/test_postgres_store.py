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
from apps.pipeline.core.enums import LinkKind, Role, Status, WorkKind
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.turn import SourceTurn
from apps.projects.services import create_project
from apps.tenants.models import EndUser
from apps.traces.models import ConfigurationVersion, Session, Trace, Turn
from tests.contracts.store_contract import StoreContract
from tests.contracts.store_world import EMBEDDER, Row, World
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

    def row(self, memory_id: UUID) -> Row | None:
        memory = Memory.objects.filter(end_user_id=self.end_user_id, id=memory_id).first()
        if memory is None:
            return None
        return Row(
            status=Status(memory.status),
            version=memory.version,
            content=memory.content,
            confidence=memory.confidence,
            superseded_by=memory.superseded_by_id,
            valid_until=memory.valid_until,
            review_reasons=tuple(memory.review_reasons),
        )

    def links(self) -> set[tuple[UUID, UUID, LinkKind]]:
        links = MemoryLink.objects.filter(end_user_id=self.end_user_id)
        return {(link.from_memory_id, link.to_memory_id, LinkKind(link.kind)) for link in links}

    def queued(self) -> set[tuple[WorkKind, UUID]]:
        rows = OutboxRow.objects.filter(end_user_id=self.end_user_id)
        return {(WorkKind(row.kind), row.subject_id) for row in rows}


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
