"""The verdict: what is wrong now, since when, and what to do. Alerts, the console, /readyz and /metrics ask it."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import CharField, Count, Exists, Func, IntegerField, Min, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, JSONObject
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from apps.alerts.enums import ProblemCode
from apps.alerts.models import SchedulerHeartbeat
from apps.common.number_formats import age, count_of
from apps.outbox.model_pauses import waiting_requests
from apps.outbox.models import ModelPause, OutboxRow, PausedKind, WorkerHeartbeat
from apps.outbox.outages import DISK_FULL, READ_ONLY, was_refused
from apps.outbox.querysets import ALIVE_WITHIN
from apps.pipeline.core.enums import WorkKind
from apps.telemetry.metrics import SLOW_SECONDS, RequestCounts
from apps.tenants.system_scope import SystemWork, system_scope

LATE = timedelta(minutes=1)  # of work: from then on it is shown
LEAST_FREE_BYTES = 64 * 1024 * 1024  # of the disk of an embedded server, which stops when it is full
COUNTED_FOR = timedelta(minutes=10)  # the requests that are judged
LEAST_REQUESTS = 100  # fewer are too few to judge
MOST_FAILED, MOST_SLOW = 0.02, 0.05  # shares of the requests


@dataclass(frozen=True, slots=True)
class Advice:
    """What is wrong, what to do, and the page where; after a while somebody is told, None: never."""

    problem: str
    remedy: str
    label: str = "Read what to do"
    page: str = ""  # of the console; none: the documentation
    query: str = ""
    told_after: timedelta | None = None

    @property
    def text(self) -> str:
        """Return what is wrong and what to do."""
        return f"{self.problem} {self.remedy}"

    def path(self, slug: str) -> str:
        """Return the path of the page for a project."""
        if not self.page:
            return reverse("documentation", args=["operations/"])
        return reverse(f"console:{self.page}", args=[slug]) + (f"?{self.query}" if self.query else "")


# Somebody is told later than it is shown: a model may just be loading, and a worker may be restarting.
ADVICE = {
    ProblemCode.DATABASE_UNAVAILABLE: Advice("The database does not answer.", "See whether it runs, and its address."),
    ProblemCode.NOT_MIGRATED: Advice("The database lacks migrations.", "Run `manage.py migrate`."),
    ProblemCode.DISK_FULL: Advice("The disk of the database is full, so nothing can be stored.", "Free some of it."),
    ProblemCode.READ_ONLY: Advice(
        "The database takes no writes: it is a standby, or read-only.", "Use the primary, or make it writable."
    ),
    ProblemCode.REDIS_UNAVAILABLE: Advice(
        "Redis does not answer, so no task is given to workers.", "See whether it runs, and its address."
    ),
    ProblemCode.NO_SCHEDULER: Advice(
        "The scheduler starts no tasks.", "Restart the cluster.", label="See the workers", page="queue"
    ),
    ProblemCode.NO_WORKER: Advice(
        "No worker runs, so accepted turns wait.",
        "Start a cluster.",
        label="See the workers",
        page="queue",
        told_after=timedelta(minutes=1),
    ),
    ProblemCode.MODEL_UNAVAILABLE: Advice(
        "A model or embedder does not answer, so the work that needs it waits.",
        "See its error, and check its address, its key and its quota.",
        label="See its error and try it now",
        page="queue",
        told_after=timedelta(minutes=1),
    ),
    ProblemCode.WORK_LATE: Advice(
        "The oldest accepted work has waited for more than a minute.",
        "See what it waits for, or start more workers.",
        label="See what waits",
        page="queue",
        told_after=timedelta(minutes=5),
    ),
    ProblemCode.DEAD_WORK: Advice(
        "Work has failed for good.",
        "Retry it in the console, or by `manage.py retry_work`.",
        label="Retry the failed work",
        page="queue",
        query="state=dead",
        told_after=timedelta(0),
    ),
    ProblemCode.REQUESTS_FAIL: Advice(
        "Requests fail.", "See the errors in the log of the web server.", told_after=timedelta(0)
    ),
    ProblemCode.REQUESTS_SLOW: Advice(
        "Requests are slow.", "See what loads the database and the web server.", told_after=timedelta(0)
    ),
}
ALERTS = [code for code, advice in ADVICE.items() if advice.told_after is not None]


@dataclass(frozen=True, slots=True)
class Trouble:
    """Something that is wrong: what, since when, what it costs, and the figures behind that.

    Alerts send these sentences to others, so they hold no text of end users and no error of a server, which may quote
    one.
    """

    code: ProblemCode
    cause: str
    cost: str = "Nothing new is remembered until then."
    since: datetime | None = None
    subject: str = ""  # a model
    figures: Mapping[str, Any] = field(default_factory=dict)

    @property
    def advice(self) -> Advice:
        """Return what to do."""
        return ADVICE[self.code]

    def is_told(self, *, now: datetime) -> bool:
        """Return True if it has lasted long enough to tell somebody."""
        after = self.advice.told_after
        return after is not None and (self.since is None or now - self.since >= after)


@dataclass(frozen=True, slots=True)
class Readings:
    """What the database knows: when the oldest due work was enqueued, failed work, heartbeats and requests."""

    is_read_only: bool = False
    oldest: datetime | None = None
    is_late: bool = False
    oldest_index: datetime | None = None
    dead: int = 0
    workers: int = 0
    has_pause: bool = False
    scheduler: datetime | None = None  # when it was last seen; None: never
    requests: RequestCounts = field(default_factory=RequestCounts)  # in the last minutes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is wrong, causes before what may follow from them, and the readings it was found by."""

    troubles: list[Trouble] = field(default_factory=list)
    readings: Readings = Readings()

    @property
    def has_few_requests(self) -> bool:
        """Return True if there were too few requests to judge errors and latency."""
        return self.readings.requests.answered < LEAST_REQUESTS


def verdict_of(*, project_id: UUID | None = None, now: datetime | None = None, is_archived: bool = False) -> Verdict:
    """Return what is wrong for a project, or for the installation within a system scope; one query if nothing is.

    Nothing is wrong in an archived project, whose work waits on purpose.
    """
    if is_archived:
        return Verdict()
    moment = now or timezone.now()
    rows, pauses = OutboxRow.objects.of_working_projects(), ModelPause.objects.all()
    if project_id is not None:
        rows, pauses = rows.filter(project_id=project_id), pauses.filter(project_id=project_id)
    overdue = rows.overdue().values("created_at")
    beats = SchedulerHeartbeat.objects.values(beat=JSONObject(seen_at="seen_at", counts="counts"))
    applied = MigrationRecorder.Migration.objects.values_list(  # any table that is never empty
        # The setting is "on" in a standby as well.
        Func(Value("transaction_read_only"), function="current_setting", output_field=CharField()),
        Subquery(overdue[:1]),
        Subquery(overdue.filter(kind=WorkKind.INDEX_MEMORY)[:1]),
        _count(rows.needs_somebody()),
        _count(WorkerHeartbeat.objects.alive()),
        Exists(pauses),
        ArraySubquery(beats),
    )
    read_only, oldest, oldest_index, dead, workers, has_pause, seen = applied[0]
    # What the processes of all hosts have counted in the last minutes, where half of them are known.
    requests = RequestCounts()
    for beat in seen:
        known = [each for each in beat["counts"] if each[0] >= (moment - COUNTED_FOR).timestamp()]
        if known and known[-1][0] - known[0][0] >= COUNTED_FOR.total_seconds() / 2:
            sums = zip(requests, known[-1][1:], known[0][1:], strict=True)
            requests = RequestCounts(*(total + last - first for total, last, first in sums))
    read = Readings(
        is_read_only=read_only == "on",
        oldest=oldest,
        is_late=oldest is not None and moment - oldest > LATE,
        oldest_index=oldest_index,
        dead=dead,
        workers=workers,
        has_pause=has_pause,
        scheduler=max((parse_datetime(each["seen_at"]) or moment for each in seen), default=None),
        requests=requests,
    )
    return Verdict(list(_troubles(read, project_id, moment)), read)


def verdict_of_installation() -> Verdict:
    """Return what is wrong with the installation. Never raises: errors of the database are part of it."""
    try:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return Verdict([_plain(ProblemCode.NOT_MIGRATED)])
        with system_scope(SystemWork.HEALTH):
            return verdict_of()
    except DatabaseError:
        return Verdict([_plain(ProblemCode.DATABASE_UNAVAILABLE)])


def _plain(code: ProblemCode) -> Trouble:
    return Trouble(code, ADVICE[code].problem)


def _count(rows: QuerySet[Any]) -> Coalesce:
    counted = rows.order_by().values(rows=Func("pk", function="count", output_field=IntegerField()))
    return Coalesce(Subquery(counted), 0)


def _troubles(read: Readings, project_id: UUID | None, now: datetime) -> Iterator[Trouble]:
    is_small = settings.DATABASE_IS_EMBEDDED and shutil.disk_usage(settings.DATA_DIR).free < LEAST_FREE_BYTES
    if is_small or was_refused(DISK_FULL):
        yield _plain(ProblemCode.DISK_FULL)
    if read.is_read_only or was_refused(READ_ONLY):
        yield _plain(ProblemCode.READ_ONLY)
    if settings.REDIS_URL and not _redis_answers():
        yield _plain(ProblemCode.REDIS_UNAVAILABLE)
    yield from _late_work(read, project_id, now)
    if read.dead:
        yield Trouble(
            ProblemCode.DEAD_WORK,
            f"{count_of(read.dead, 'piece', 'pieces')} of work failed for good.",
            "What these requests say is not remembered until somebody retries them.",
            figures={"dead": read.dead},
        )
    counts = read.requests
    figures = {key: int(value) for key, value in counts._asdict().items()}
    if counts.answered >= LEAST_REQUESTS and counts.failed > MOST_FAILED * counts.answered:
        cause = f"{figures['failed']} of {figures['answered']} requests of the last ten minutes failed."
        yield Trouble(ProblemCode.REQUESTS_FAIL, cause, "Agents get errors in place of answers.", figures=figures)
    if counts.waited_for >= LEAST_REQUESTS and counts.slow > MOST_SLOW * counts.waited_for:
        cause = (
            f"{figures['slow']} of {figures['waited_for']} requests for memories in the last ten minutes "
            f"took longer than {SLOW_SECONDS} s."
        )
        yield Trouble(ProblemCode.REQUESTS_SLOW, cause, "Agents wait for what they ask.", figures=figures)


def _late_work(read: Readings, project_id: UUID | None, now: datetime) -> Iterator[Trouble]:
    """Yield what keeps work from being done, or that it is late where nothing explains it."""
    if not read.workers:
        waited = f", and the oldest work has waited for {_age(read.oldest, now)}" if read.oldest else ""
        # Without work nobody misses a worker.
        yield Trouble(ProblemCode.NO_WORKER, f"No worker is running{waited}.", _LATE_COST, since=read.oldest or now)
    elif read.scheduler and now - read.scheduler > ALIVE_WITHIN:
        cause = f"The scheduler has started no task since {time_text(read.scheduler)}."
        yield Trouble(ProblemCode.NO_SCHEDULER, cause, _LATE_COST, since=read.scheduler)
    pauses = ModelPause.objects.all() if project_id is None else ModelPause.objects.filter(project_id=project_id)
    models = pauses.order_by().values_list("model", "kind").annotate(first=Min("since"), projects=Count("id"))
    # The one that has been silent for longest comes first.
    for model, kind, since, projects in models.order_by("first") if read.has_pause else ():
        figures = {"projects": projects}
        cost = "What was said is remembered once it answers."
        if project_id is not None:
            waiting = waiting_requests(project_id=project_id, model=model)
            figures = {"waiting": waiting}
            waits = f"{count_of(waiting, 'request')} {'waits' if waiting == 1 else 'wait'}"
            cost = f"{waits} for it; what was said is remembered once it answers."
        cause = f"The {PausedKind(kind)} {model} has not answered since {time_text(since)}."
        yield Trouble(ProblemCode.MODEL_UNAVAILABLE, cause, cost, since, model, figures)
    if read.workers and read.oldest and read.is_late and not read.has_pause:
        cause = f"The oldest queued work has waited for {_age(read.oldest, now)}."
        yield Trouble(ProblemCode.WORK_LATE, cause, _LATE_COST, since=read.oldest)


_LATE_COST = "What was said since then is remembered late."


def _redis_answers() -> bool:
    import redis  # only servers with REDIS_URL need the package

    try:
        with redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def _age(since: datetime, now: datetime) -> str:
    return age((now - since).total_seconds())


def time_text(moment: datetime) -> str:
    """Format a time for a message, which does not know the reader's time zone."""
    return f"{moment:%Y-%m-%d %H:%M} UTC"
