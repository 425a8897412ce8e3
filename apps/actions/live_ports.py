"""Which ports a mode of running uses; modes differ in nothing else."""

from datetime import UTC, datetime
from uuid import UUID

from django.db import connection

from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import PostgresPlanWriter
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.ports import Model, Ports
from apps.providers import registry


class SystemClock:
    """The machine's clock, in UTC."""

    def now(self) -> datetime:
        """Return the present moment."""
        return datetime.now(UTC)


class Uuid7Ids:
    """New UUIDv7 identifiers."""

    def new(self) -> UUID:
        """Make one."""
        return new_id()


class ConnectionReleasingModel:
    """A model that is called while the thread holds no database connection: calls are long, connections are few."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Give the connection back, then ask. Raises ModelFailed."""
        if not connection.in_atomic_block:
            connection.close()
        return self._model.complete(request)


def live() -> Ports:
    """Return the ports of ordinary running: the tables, the configured model and embedder, the machine's clock."""
    return Ports(
        clock=SystemClock(),
        ids=Uuid7Ids(),
        embedder=registry.embedder(),
        memories=PostgresMemoryReader(),
        writer=PostgresPlanWriter(),
        model=ConnectionReleasingModel(registry.PricedModels()),
        has_usual_model=registry.has_model(),
    )
