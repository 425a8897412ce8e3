"""Choose, estimate, request, start, run, cancel and export replays."""

import random
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from typing import Any, TypedDict
from uuid import UUID

import msgspec
import structlog
from django.db import transaction
from django.db.models import Count, F, Q, Sum
from django.utils import timezone

from apps.common.csv_lines import csv_line
from apps.common.errors import Conflict, Unfit
from apps.common.rows import get_or_refuse
from apps.memories.ledger.actor import current_person
from apps.memories.live_ports import ConnectionReleasingModel
from apps.outbox.enqueue import queue_task
from apps.outbox.leased import leased_row, release_row, reported_row
from apps.pipeline.core.enums import ExtractorKind
from apps.pipeline.core.identifiers import Prefix, end_user_id, show
from apps.pipeline.core.model_calls import Purpose
from apps.pipeline.core.policy import Policy
from apps.projects.services import prompt_versions
from apps.providers import registry
from apps.tenants.streamed_rows import streamed_rows
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import ConfigurationVersion, ModelCall, Replay, ReplayedState, ReplayedTrace, ReplayState, Trace
from apps.traces.policies import policy_of
from apps.traces.runs import ENDED, batches_of, run_heads
from apps.tuning.replays.differences import added_totals, shown_difference
from apps.tuning.replays.replaying import ReplayedRun, UserReplay

MOST_TRACES = 100_000


class TraceChoice(TypedDict, total=False):
    """Ended traces of a project; all filters that are given have to fit, and a sample is drawn of what is left."""

    user_id: str | None
    session_id: str | None
    since: datetime | None
    until: datetime | None
    trace_ids: tuple[UUID, ...]
    sample: int | None


def _chosen_traces(project_id: UUID, choice: TraceChoice) -> dict[UUID, set[UUID]]:
    """Return the chosen traces by end user. Raises Unfit if there are none, or too many."""
    user, session = choice.get("user_id"), choice.get("session_id")
    if session and not user:
        raise Unfit("is required with a session", at="/traces/user_id")
    filters = {
        "end_user_id": user and end_user_id(project_id=project_id, user_id=user),
        "session__external_id": session,
        "created_at__gte": choice.get("since"),
        "created_at__lte": choice.get("until"),
        "id__in": choice.get("trace_ids"),
    }
    given = {name: value for name, value in filters.items() if value}
    traces = Trace.objects.filter(project_id=project_id, status__in=ENDED, **given).order_by("id")
    rows = list(traces.values_list("end_user_id", "id")[: MOST_TRACES + 1])
    if len(rows) > MOST_TRACES:
        raise Unfit(f"more than {MOST_TRACES:,} traces; choose a shorter time or a sample", at="/traces")
    if not rows:
        raise Unfit("no trace that has ended fits", at="/traces")
    found: dict[UUID, set[UUID]] = {}
    for user_id, trace_id in random.sample(rows, min(choice.get("sample") or len(rows), len(rows))):
        found.setdefault(user_id, set()).add(trace_id)
    return found


# Sections of a policy that decide what is stored, and so what later prompts show.
DECIDING = ("pre_filter", "extraction", "resolution", "dedupe", "conflict", "judges", "confidence")
TOKENS_OF_A_CALL = 4_000  # where none is recorded: prompt tokens per turn, measured (README)


def estimate(
    *,
    recorded: Iterable[Mapping[str, Any]],
    prompts: Mapping[str, str],
    policy: Policy | None,
    recorded_policies: Collection[Policy],
    traces: int,
) -> dict[str, Any]:
    """Return the most that replaying traces may cost, as JSON; `policy` None is each trace's own.

    `recorded` sums calls, tokens and cost by purpose and prompt_version. One different decision changes what every
    later prompt shows, so that either nothing has to be asked again or all of it may have to be. Questions for the
    index are not asked: they change nothing that is stored.
    """
    asked = [each for each in recorded if each["purpose"] != Purpose.INDEX_QUESTIONS]
    outdated = sorted({each["purpose"] for each in asked if prompts.get(each["purpose"]) != each["prompt_version"]})
    known, tokens = sum(each["calls"] for each in asked), sum(each["tokens"] for each in asked)
    cost = sum((each["cost"] for each in asked), start=Decimal(0))
    calls = known
    differs = policy and any(
        getattr(policy, name) != getattr(each, name) for each in recorded_policies for name in DECIDING
    )
    if not differs and not outdated:
        calls = 0
    elif policy and policy.extraction.extractor is ExtractorKind.PLAIN:
        calls, outdated = 0, []
    elif policy and any(each.extraction.extractor is ExtractorKind.PLAIN for each in recorded_policies):
        calls = max(known, traces)  # it asks a model where a recorded policy has asked none
    if calls and calls != known:
        each_tokens, each_cost = (tokens // known, cost / known) if known else (TOKENS_OF_A_CALL, Decimal(0))
        tokens, cost = calls * each_tokens, calls * each_cost
    return {
        "recorded_calls": known,
        "new_calls_at_most": calls,
        "new_tokens_at_most": tokens if calls else 0,
        "new_cost_usd_at_most": f"{cost.normalize():f}" if calls else "0",
        "outdated_prompts": outdated,
    }


def request_replay(
    *,
    project_id: UUID,
    choice: TraceChoice | None = None,
    version: int | None = None,
    is_isolated: bool = False,
    allows_live_calls: bool = False,
    api_key_id: UUID | None = None,
) -> Replay:
    """Create a replay with its traces and its estimate, in one transaction.

    Without a version each trace runs under its own. Traces that shared model calls are replayed together, so that it
    may have more traces than were chosen. Raises NotFound for an unknown version, Unfit if no trace fits, too many do,
    or there is no model for live calls.
    """
    choice = choice or TraceChoice()
    configuration = None
    if version is not None:
        versions = ConfigurationVersion.objects.filter(project_id=project_id, number=version)
        configuration = get_or_refuse(versions, "version")
    model = configuration.as_policy().extraction.model if configuration else ""
    if allows_live_calls and not registry.has_model(model):
        raise Unfit("no model is configured", at="/live_calls")
    chosen = _chosen_traces(project_id, choice)
    given: dict[str, Any] = {name: value for name, value in choice.items() if value}
    stored = {name: value.isoformat() if isinstance(value, datetime) else value for name, value in given.items()}
    if "user_id" in given:  # whom an erasure has to remove from it
        stored["end_user"] = end_user_id(project_id=project_id, user_id=given["user_id"])
    with transaction.atomic():
        replay = Replay.objects.create(
            project_id=project_id,
            person_id=current_person(),
            api_key_id=api_key_id,
            configuration=configuration,
            choice=msgspec.to_builtins(stored),
            is_isolated=is_isolated,
            allows_live_calls=allows_live_calls,
        )
        for user, traces in chosen.items():
            replay.traces_total += _add_traces(replay, user, traces)
        replay.estimate = _estimate_replay(replay)
        replay.save(update_fields=["traces_total", "estimate"])
    return replay


def _add_traces(replay: Replay, end_user_id: UUID, chosen: set[UUID]) -> int:
    """Add an end user's traces in the order of their runs, whole batches; return how many."""
    batches = batches_of(run_heads(end_user_id=end_user_id))
    heads = [head for batch in batches if any(each.trace_id in chosen for each in batch) for head in batch]
    ReplayedTrace.objects.bulk_create(
        (
            ReplayedTrace(end_user_id=end_user_id, replay=replay, trace_id=head.trace_id, position=position)
            for position, head in enumerate(heads)
        ),
        batch_size=1_000,
    )
    return len(heads)


_TOKENS = F("input_tokens") + F("cache_read_tokens") + F("cache_write_tokens") + F("output_tokens")


def _estimate_replay(replay: Replay) -> dict[str, Any]:
    """Return the estimate as JSON; money is text."""
    traces = ReplayedTrace.objects.filter(replay=replay).values("trace_id")
    calls = ModelCall.objects.filter(trace_id__in=traces, error="").order_by()
    versions = Trace.objects.filter(id__in=traces).order_by().values_list("configuration_id", flat=True).distinct()
    return estimate(
        recorded=calls.values("purpose", "prompt_version").annotate(
            calls=Count("id"), tokens=Sum(_TOKENS), cost=Sum("cost_usd")
        ),
        prompts=prompt_versions(),
        policy=replay.configuration.as_policy() if replay.configuration else None,
        recorded_policies=[policy_of(version) for version in versions],
        traces=replay.traces_total,
    )


log = structlog.get_logger(__name__)

LEASE_SECONDS = 120.0  # much longer than a chunk takes, with live calls too
CHUNK_RUNS = 50  # written together
MOST_ERROR = 2_000  # characters


def run_replay(*, replay_id: UUID) -> None:
    """Replay what is not done yet and report the progress; ignore a replay that is over or runs elsewhere.

    An end user of whom a part is done is computed from the start, for the state is kept in memory alone, and only what
    is missing is written.
    """
    startable = Replay.objects.filter(id=replay_id, state__in=(ReplayState.WAITING, ReplayState.RUNNING))
    with leased_row(startable, seconds=LEASE_SECONDS, fail=_fail, state=ReplayState.RUNNING) as replay:
        if replay is None:
            return
        left = ReplayedTrace.objects.filter(replay=replay, state=ReplayedState.WAITING).order_by("end_user_id")
        for end_user_id in list(left.values_list("end_user_id", flat=True).distinct()):
            _replay_user(replay, end_user_id)
        _end(replay, ReplayState.DONE)


def _fail(replay: Replay, error: Exception) -> None:
    log.exception("replay failed", replay=str(replay.pk))
    _end(replay, ReplayState.FAILED, error=f"{type(error).__name__}: {error}"[:MOST_ERROR])


def _end(replay: Replay, state: ReplayState, **changes: Any) -> None:
    """End a replay. Raises LostLease if it was cancelled or another process runs it."""
    release_row(replay, state=state, finished_at=timezone.now(), **changes)


def _replay_user(replay: Replay, end_user_id: UUID) -> None:
    # Empty for a user who was erased meanwhile.
    rows = {row.trace_id: row for row in ReplayedTrace.objects.filter(end_user_id=end_user_id, replay=replay)}
    heads = run_heads(end_user_id=end_user_id, trace_ids=rows.keys())
    runs: Iterator[ReplayedRun] = iter(())
    if heads:
        runs = UserReplay(
            end_user_id=end_user_id,
            heads=heads,
            embedder=registry.embedder(),
            policy=replay.configuration.as_policy() if replay.configuration else None,
            is_isolated=replay.is_isolated,
            live=ConnectionReleasingModel(registry.PricedModels()) if replay.allows_live_calls else None,
        ).run()
    while some := list(islice(runs, CHUNK_RUNS)):
        new = [(row, run) for run in some if (row := rows[run.head.trace_id]).state == ReplayedState.WAITING]
        for row, run in new:
            row.state, row.error = run.state, run.error[:MOST_ERROR]
            row.totals, row.diff = run.totals, run.diff
        _write(replay, [row for row, _ in new])
    gone = [row for row in rows.values() if row.state == ReplayedState.WAITING]
    for row in gone:  # their traces were deleted or queued again meanwhile
        row.state, row.error = ReplayedState.FAILED, "the trace has not ended"
    if gone:
        _write(replay, gone)


def _write(replay: Replay, rows: list[ReplayedTrace]) -> None:
    """Write finished traces and the sums in one transaction. Raises LostLease."""
    with reported_row(replay, seconds=LEASE_SECONDS) as held:
        ReplayedTrace.objects.bulk_update(rows, ["state", "error", "totals", "diff"])
        for row in rows:
            failed = {row.state: 1} if row.state in (ReplayedState.MISSED, ReplayedState.FAILED) else {}
            held.totals = added_totals(held.totals, {**row.totals, **failed})
        held.traces_done += len(rows)


IMMEDIATE_TRACES = 50  # up to this number, and without live calls, it is computed while the caller waits
TASK_SECONDS = 3_600
_STARTABLE = (ReplayState.ESTIMATED, ReplayState.CANCELLED, ReplayState.FAILED)


def start_replay(*, project_id: UUID, replay_id: UUID) -> Replay:
    """Compute few traces at once, and leave more of them to a worker; traces that are done are not done again.

    Raises NotFound, Conflict if it runs already or is done.
    """
    with transaction.atomic():
        rows = Replay.objects.select_for_update().filter(project_id=project_id, id=replay_id)
        replay = get_or_refuse(rows, "replay")
        if replay.state not in _STARTABLE:
            raise Conflict(f"the replay is {replay.state}")
        replay.state, replay.error, replay.finished_at = ReplayState.WAITING, "", None
        replay.leased_until = replay.lease_token = None
        replay.started_at = replay.started_at or timezone.now()
        replay.save()
        is_immediate = replay.traces_total <= IMMEDIATE_TRACES and not replay.allows_live_calls
        if not is_immediate:
            transaction.on_commit(lambda: queue_replay(replay_id))
    if is_immediate:
        run_replay(replay_id=replay_id)
    replay.refresh_from_db()
    return replay


def queue_replay(replay_id: UUID) -> None:
    """Leave a replay to a worker."""
    queue_task("replay", str(replay_id), group="replay", timeout=TASK_SECONDS)


_CANCELLABLE = (ReplayState.ESTIMATED, ReplayState.WAITING, ReplayState.RUNNING)


def cancel_replay(*, project_id: UUID, replay_id: UUID) -> Replay:
    """Cancel a replay that is not over; one that runs stops after the traces at hand. Raises NotFound, Conflict."""
    with transaction.atomic():
        rows = Replay.objects.select_for_update().filter(project_id=project_id, id=replay_id)
        replay = get_or_refuse(rows, "replay")
        if replay.state in _CANCELLABLE:
            replay.state, replay.finished_at = ReplayState.CANCELLED, timezone.now()
            replay.leased_until = replay.lease_token = None
            replay.save()
    if replay.state != ReplayState.CANCELLED:
        raise Conflict(f"the replay is {replay.state}")
    return replay


LOST_AFTER = timedelta(minutes=2)  # after the start, a task that never ran


def continue_replays() -> int:
    """Queue the replays that nobody runs; return how many. Two tasks of one replay don't meet: one has its lease."""
    now = timezone.now()
    died = Q(state=ReplayState.RUNNING)
    lost = Q(state=ReplayState.WAITING, started_at__lt=now - LOST_AFTER)
    with system_scope(SystemWork.SCHEDULE):
        left = list(Replay.objects.free().filter(died | lost).values_list("id", flat=True))
    for replay_id in left:
        queue_replay(replay_id)
    return len(left)


COLUMNS = ("user_id", "trace_id", "state", "what", "change", "object_id", "before", "after", "fields")


EXPORTS = {"json": "application/json", "csv": "text/csv; charset=utf-8"}  # formats with their content types


def export_replay(replay: Replay, kind: str) -> Iterator[str]:
    """Yield the traces that did not end as they were recorded: a JSON array, or a line of CSV for each difference."""
    settled = (ReplayedState.WAITING, ReplayedState.SAME)
    found = ReplayedTrace.objects.filter(replay=replay).exclude(state__in=settled).select_related("end_user")
    rows = streamed_rows(found.order_by("end_user_id", "position"), project_id=replay.project_id)
    return _as_json(rows) if kind == "json" else _as_csv(rows)


def _as_json(rows: Iterable[ReplayedTrace]) -> Iterator[str]:
    yield "["
    for place, row in enumerate(rows):
        told = {**_about(row), "error": row.error, **shown_difference(row.diff)}
        yield ("," if place else "") + "\n" + msgspec.json.encode(told).decode()
    yield "\n]\n"


def _as_csv(rows: Iterable[ReplayedTrace]) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for row in rows:
        changes: list[dict[str, Any]] = []
        if row.error:
            changes.append({"what": "trace", "change": row.state, "after": row.error})
        for turn in row.diff.get("turns", ()):
            change = "kept" if not turn["after"] else "reason" if turn["before"] else "dropped"
            shown = show(Prefix.TURN, UUID(turn["turn_id"]))
            changes.append({**turn, "what": "turn", "change": change, "object_id": shown})
        for made in shown_difference(row.diff).get("operations", ()):
            fields = " ".join(each["name"] for each in made["fields"])
            object_id, before, after = made["object_id"], made["before_content"], made["content"]
            told = {"what": made["operation"], "change": made["kind"], "object_id": object_id}
            changes.append({**told, "before": before, "after": after, "fields": fields})
        for lost in row.diff.get("discards", ()):
            change = "discarded" if lost["is_new"] else "no longer discarded"
            told = {"what": "candidate", "change": change, "after": lost["content"], "fields": lost["reason"]}
            changes.append(told)
        for values in ({**_about(row), **each} for each in changes):
            yield csv_line(str(values.get(name, "")) for name in COLUMNS)


def _about(row: ReplayedTrace) -> dict[str, str]:
    trace_id = show(Prefix.TRACE, row.trace_id)
    return {"user_id": row.end_user.external_id, "trace_id": trace_id, "state": row.state}
