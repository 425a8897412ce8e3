"""Run a replay: one end user after the other, with progress that survives a kill."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from uuid import UUID

import msgspec
import structlog
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from apps.actions.live_ports import ConnectionReleasingModel
from apps.actions.replays.replay_user import CHUNK_RUNS, ReplayedRun, ReplaySettings, UserReplay
from apps.actions.replays.totals import added_totals, totals_of
from apps.outbox.leased import LeasedQuerySet, LostLease
from apps.outbox.outages import is_outage
from apps.providers import registry
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Replay, ReplayedState, ReplayedTrace, ReplayState
from apps.traces.run_heads import run_heads

log = structlog.get_logger(__name__)

LEASE_SECONDS = 120.0  # much longer than a chunk takes, with live calls too
MOST_ERROR = 2_000  # characters


def run_replay(*, replay_id: UUID) -> None:
    """Replay what is not done yet and report the progress; ignore a replay that is over or runs elsewhere.

    An end user of whom a part is done is computed from the start, for the state is kept in memory alone, and only what
    is missing is written.
    """
    with system_scope(SystemWork.SCHEDULE):
        project_id = Replay.objects.filter(id=replay_id).values_list("project_id", flat=True).first()
    if project_id is not None:
        with tenant_scope(project_id=project_id):
            _run(replay_id)


def _run(replay_id: UUID) -> None:
    startable = Replay.objects.filter(id=replay_id, state__in=(ReplayState.WAITING, ReplayState.RUNNING))
    token, _ = startable.lease(seconds=LEASE_SECONDS, state=ReplayState.RUNNING)
    replay = Replay.objects.select_related("configuration").filter(id=replay_id, lease_token=token).first()
    if replay is None:
        return
    try:
        for end_user_id in _users_left(replay):
            _replay_user(replay, end_user_id)
    except LostLease:
        return
    except Exception as error:  # whatever a stage raises, the replay has to end with a state that says why
        if is_outage(error):
            raise  # when the lease has ended, continue_replays goes on with the rest
        log.exception("replay failed", replay=str(replay_id))
        reason = f"{type(error).__name__}: {error}"[:MOST_ERROR]
        _running(replay).release(token=token, state=ReplayState.FAILED, error=reason, finished_at=timezone.now())
        return
    _running(replay).release(token=token, state=ReplayState.DONE, finished_at=timezone.now())


def _running(replay: Replay) -> LeasedQuerySet:
    """Return the row of the replay, unless it was cancelled or another process runs it."""
    return Replay.objects.filter(id=replay.pk, state=ReplayState.RUNNING, lease_token=replay.lease_token)


def _users_left(replay: Replay) -> Iterator[UUID]:
    """Yield the end users of whom something is left, by one query each: an erasure may remove some meanwhile."""
    left = ReplayedTrace.objects.filter(replay=replay, state=ReplayedState.WAITING).order_by("end_user_id")
    latest: UUID | None = None
    while True:
        rows = left if latest is None else left.filter(end_user_id__gt=latest)
        latest = rows.values_list("end_user_id", flat=True).first()
        if latest is None:
            return
        yield latest


def _replay_user(replay: Replay, end_user_id: UUID) -> None:
    rows = {row.trace_id: row for row in ReplayedTrace.objects.filter(end_user_id=end_user_id, replay=replay)}
    heads = run_heads(end_user_id=end_user_id, trace_ids=rows.keys())
    live = ConnectionReleasingModel(registry.PricedModels()) if replay.allows_live_calls else None
    policy = replay.configuration.as_policy() if replay.configuration else None
    settings = ReplaySettings(policy=policy, is_isolated=replay.is_isolated, live=live)
    runs: Iterator[ReplayedRun] = iter(())
    if heads:
        user = UserReplay(end_user_id=end_user_id, heads=heads, embedder=registry.embedder(), settings=settings)
        runs = user.run()
    while some := list(islice(runs, CHUNK_RUNS)):
        _report(replay, [(rows[run.head.trace_id], run) for run in some])
    gone = [row for row in rows.values() if row.state == ReplayedState.WAITING]
    if gone:  # traces that were deleted or queued again meanwhile
        for row in gone:
            row.state, row.error = ReplayedState.FAILED, "the trace has not ended"
        _write(replay, gone)


def _report(replay: Replay, some: list[tuple[ReplayedTrace, ReplayedRun]]) -> None:
    new = [(row, run) for row, run in some if row.state == ReplayedState.WAITING]
    for row, run in new:
        row.state, row.error = run.state, run.error[:MOST_ERROR]
        row.totals = totals_of(run.diff) if run.state in (ReplayedState.SAME, ReplayedState.DIFFERENT) else {}
        row.diff = {} if run.diff.is_empty else msgspec.json.decode(msgspec.json.encode(run.diff))
    _write(replay, [row for row, _ in new])


def _write(replay: Replay, rows: list[ReplayedTrace]) -> None:
    """Write finished traces and the sums in one transaction. Raises LostLease."""
    with transaction.atomic():
        held = _running(replay).select_for_update().first()
        if held is None:
            raise LostLease
        ReplayedTrace.objects.bulk_update(rows, ["state", "error", "totals", "diff"])
        for row in rows:
            failed = {row.state: 1} if row.state in (ReplayedState.MISSED, ReplayedState.FAILED) else {}
            held.totals = added_totals(held.totals, {**row.totals, **failed})
        held.traces_done += len(rows)
        held.leased_until = Now() + timedelta(seconds=LEASE_SECONDS)
        held.save(update_fields=["totals", "traces_done", "leased_until"])
