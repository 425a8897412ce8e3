"""Check whether this process can serve requests, and how old the pending work is."""

import logging
import shutil
from datetime import datetime

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import CharField, Func, Value
from django.utils import timezone

from apps.api import write_failures
from apps.api.health_responses import PausedModelResponse, ReadinessResponse, ServiceStatus
from apps.outbox import model_pauses
from apps.outbox.models import OutboxRow, WorkerHeartbeat
from apps.outbox.querysets import Backlog
from apps.tenants.system_scope import SystemWork, system_scope

DEGRADED_AFTER_SECONDS = 60.0
LEAST_FREE_BYTES = 64 * 1024 * 1024  # of the disk of an embedded server, which stops when it is full
_log = logging.getLogger(__name__)


def readiness() -> ReadinessResponse:
    """Query the database. Never raises: database errors are reported as unavailable."""
    try:
        executor = MigrationExecutor(connection)
        migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        if not migrated:
            return _unavailable(database=True)
        if not _is_writable():
            return _unavailable(database=True, migrations=True)
        with system_scope(SystemWork.HEALTH):
            return _ready(OutboxRow.objects.of_working_projects().backlog(), now=timezone.now())
    except DatabaseError as error:
        _log.error("the database is unreachable: %s", type(error.__cause__ or error).__name__)
        return _unavailable(database=False)


def _is_writable() -> bool:
    """Return False if the database is read-only, or its disk is full as far as that is known."""
    if write_failures.is_recent():
        return False
    if settings.DATABASE_IS_EMBEDDED and shutil.disk_usage(settings.DATA_DIR).free < LEAST_FREE_BYTES:
        return False
    setting = Func(Value("transaction_read_only"), function="current_setting", output_field=CharField())
    applied = MigrationRecorder.Migration.objects.values_list(setting, flat=True)  # any table that is never empty
    return applied[0] == "off"  # it is "on" in a standby as well


def _unavailable(*, database: bool, migrations: bool = False) -> ReadinessResponse:
    return ReadinessResponse(
        status=ServiceStatus.UNAVAILABLE,
        database=database,
        migrations=migrations,
        writable=False,
        oldest_queued_seconds=0.0,
        vector_lag_seconds=0.0,
        dead=0,
        workers_alive=0,
    )


def _ready(backlog: Backlog, *, now: datetime) -> ReadinessResponse:
    pending, lag = _age(backlog.oldest, now), _age(backlog.oldest_index, now)
    workers = WorkerHeartbeat.objects.alive().count()
    paused = [
        PausedModelResponse(model=each.model, since=each.since, projects=each.projects)
        for each in model_pauses.paused_models()
    ]
    late = pending > DEGRADED_AFTER_SECONDS or backlog.dead > 0 or not workers or bool(paused)
    return ReadinessResponse(
        status=ServiceStatus.DEGRADED if late else ServiceStatus.OK,
        database=True,
        migrations=True,
        writable=True,
        oldest_queued_seconds=pending,
        vector_lag_seconds=lag,
        dead=backlog.dead,
        workers_alive=workers,
        paused_models=paused,
    )


def _age(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else round(max(0.0, (now - moment).total_seconds()), 1)
