"""The ports of live operation; other modes (dry run, replay) differ only in their ports."""

from django.db import connection
from django.utils import timezone

from apps.memories.reading.postgres_reader import PostgresMemoryReader
from apps.memories.writing.plan_writer import PostgresPlanWriter
from apps.pipeline.core.identifiers import new_id
from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.core.ports import Model, Ports
from apps.providers import registry
from apps.providers.observed import ObservedEmbedder
from apps.telemetry.tracing import stage_span


class ConnectionReleasingModel:
    """A model that is called without holding a database connection: calls take long, and connections are few."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Return the connection to the pool, then call the model. Raises ModelFailed."""
        if not connection.in_atomic_block:
            connection.close()
        return self._model.complete(request)


def live() -> Ports:
    """Return the live ports: the database, the configured model and embedder, the system clock."""
    return Ports(
        now=timezone.now,
        new_id=new_id,
        embedder=ObservedEmbedder(registry.embedder()),
        memories=PostgresMemoryReader(),
        writer=PostgresPlanWriter(),
        model=ConnectionReleasingModel(registry.PricedModels()),
        has_usual_model=registry.has_model(),
        stage_span=stage_span,
    )
