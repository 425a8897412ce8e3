"""Check whether this process can serve requests, and how old the pending work is."""

import logging
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from apps.api.schemas.health import PausedModelResponse, ReadinessResponse, ServiceStatus
from apps.outbox import heartbeats, model_pauses
from apps.outbox.models import OutboxRow
from apps.outbox.querysets import Backlog, OutboxRowQuerySet
from apps.tenants.system_scope import SystemWork, system_scope

DEGRADED_AFTER_SECONDS = 60.0
ALIVE_WITHIN = timedelta(
    seconds=30
)  # several heartbeats, and half the time within which a stopped worker must be reported
_log = logging.getLogger(__name__)


def readiness() -> ReadinessResponse:
    """Query the database. Never raises: database errors are reported as unavailable."""
    try:
        executor = MigrationExecutor(connection)
        migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        with system_scope(SystemWork.HEALTH):
            backlog = OutboxRowQuerySet(OutboxRow).of_working_projects().backlog() if migrated else None
            return _ready(backlog, now=timezone.now()) if backlog else _unavailable(database=True)
    except DatabaseError:
        _log.exception("the database is unreachable")
        return _unavailable(database=False)


def _unavailable(*, database: bool) -> ReadinessResponse:
    return ReadinessResponse(
        status=ServiceStatus.UNAVAILABLE,
        database=database,
        migrations=False,
        oldest_queued_seconds=0.0,
        vector_lag_seconds=0.0,
        dead=0,
        workers_alive=0,
    )


def _ready(backlog: Backlog, *, now: datetime) -> ReadinessResponse:
    pending, lag = _age(backlog.oldest, now), _age(backlog.oldest_index, now)
    workers = heartbeats.alive(within=ALIVE_WITHIN)
    paused = [
        PausedModelResponse(model=each.model, since=each.since, projects=each.projects)
        for each in model_pauses.paused_models()
    ]
    late = pending > DEGRADED_AFTER_SECONDS or backlog.dead > 0 or not workers or bool(paused)
    return ReadinessResponse(
        status=ServiceStatus.DEGRADED if late else ServiceStatus.OK,
        database=True,
        migrations=True,
        oldest_queued_seconds=pending,
        vector_lag_seconds=lag,
        dead=backlog.dead,
        workers_alive=workers,
        paused_models=paused,
    )


def _age(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else round(max(0.0, (now - moment).total_seconds()), 1)
