"""Check whether this process can serve requests, and how old the pending work is."""

import logging
import shutil
from collections.abc import Iterator, Sequence
from datetime import datetime

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import CharField, Func, Value
from django.utils import timezone

from apps.actions.alerts.trouble import LATE
from apps.api import write_failures
from apps.api.health_responses import (
    PausedModelResponse,
    ProblemCode,
    ReadinessResponse,
    ServiceProblem,
    ServiceStatus,
)
from apps.outbox import model_pauses
from apps.outbox.models import OutboxRow, WorkerHeartbeat
from apps.outbox.querysets import Backlog
from apps.tenants.system_scope import SystemWork, system_scope

DATABASE_UNAVAILABLE = ServiceProblem(
    ProblemCode.DATABASE_UNAVAILABLE, "The database does not answer: see whether it runs, and its address."
)
NOT_MIGRATED = ServiceProblem(ProblemCode.NOT_MIGRATED, "The database lacks migrations: run `manage.py migrate`.")
NOT_WRITABLE = ServiceProblem(
    ProblemCode.NOT_WRITABLE, "The database takes no writes: its disk is full, or it is a standby or read-only."
)
REDIS_UNAVAILABLE = ServiceProblem(
    ProblemCode.REDIS_UNAVAILABLE, "Redis does not answer: no task is given to workers until it does."
)
NO_WORKER = ServiceProblem(ProblemCode.NO_WORKER, "No worker runs, so accepted turns wait: start a cluster.")
WORK_LATE = ServiceProblem(ProblemCode.WORK_LATE, "The oldest accepted work has waited for more than a minute.")
DEAD_WORK = ServiceProblem(
    ProblemCode.DEAD_WORK,
    "Work has failed for good: retry it in the console, or by `manage.py retry_work`.",
)
MODEL_UNAVAILABLE = ServiceProblem(
    ProblemCode.MODEL_UNAVAILABLE,
    "A model or embedder does not answer: the work that needs it waits.",
)
LEAST_FREE_BYTES = 64 * 1024 * 1024  # of the disk of an embedded server, which stops when it is full
_log = logging.getLogger(__name__)


def readiness() -> ReadinessResponse:
    """Query the database. Never raises: database errors are reported as unavailable."""
    try:
        executor = MigrationExecutor(connection)
        migrated = not executor.migration_plan(executor.loader.graph.leaf_nodes())
        if not migrated:
            return _unavailable(NOT_MIGRATED, database=True)
        if not _is_writable():
            return _unavailable(NOT_WRITABLE, database=True, migrations=True)
        with system_scope(SystemWork.HEALTH):
            return _ready(OutboxRow.objects.of_working_projects().backlog(), now=timezone.now())
    except DatabaseError as error:
        _log.error("the database is unreachable: %s", type(error.__cause__ or error).__name__)
        return _unavailable(DATABASE_UNAVAILABLE, database=False)


def _is_writable() -> bool:
    """Return False if the database is read-only, or its disk is full as far as that is known."""
    if write_failures.is_recent():
        return False
    if settings.DATABASE_IS_EMBEDDED and shutil.disk_usage(settings.DATA_DIR).free < LEAST_FREE_BYTES:
        return False
    setting = Func(Value("transaction_read_only"), function="current_setting", output_field=CharField())
    applied = MigrationRecorder.Migration.objects.values_list(setting, flat=True)  # any table that is never empty
    return applied[0] == "off"  # it is "on" in a standby as well


def _unavailable(problem: ServiceProblem, *, database: bool, migrations: bool = False) -> ReadinessResponse:
    return ReadinessResponse(
        problems=[problem],
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
    problems = list(_problems(backlog, pending=pending, workers=workers, models=[each.model for each in paused]))
    return ReadinessResponse(
        status=ServiceStatus.DEGRADED if problems else ServiceStatus.OK,
        database=True,
        migrations=True,
        writable=True,
        oldest_queued_seconds=pending,
        vector_lag_seconds=lag,
        dead=backlog.dead,
        workers_alive=workers,
        paused_models=paused,
        problems=problems,
    )


def _problems(backlog: Backlog, *, pending: float, workers: int, models: Sequence[str]) -> Iterator[ServiceProblem]:
    if settings.REDIS_URL and not _redis_answers():
        yield REDIS_UNAVAILABLE
    if not workers:
        yield NO_WORKER
    if models:
        yield MODEL_UNAVAILABLE
    if pending > LATE.total_seconds():
        yield WORK_LATE
    if backlog.dead:
        yield DEAD_WORK


def _redis_answers() -> bool:
    try:
        with redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def _age(moment: datetime | None, now: datetime) -> float:
    return 0.0 if moment is None else round(max(0.0, (now - moment).total_seconds()), 1)
