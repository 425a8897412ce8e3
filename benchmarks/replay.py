"""Replays with recorded answers: traces per second on two cores, differences under the own version, and memory.

Ten conversations are posted as several end users each, exchange by exchange, and extracted by the recorded model. Then
all their traces are replayed under their own version, again and again until there were enough, by two processes that
share the end users. Peak memory is that of one process; it is read after a tenth of its replays and at the end.
"""

import resource
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from uuid import UUID

from django.db import connections
from django.test import override_settings
from django.utils import timezone

from apps.projects.services import create_project
from apps.tenants.models import EndUser, Project
from apps.traces.models import Replay, ReplayState
from apps.tuning.replays.services import TraceChoice, request_replay, run_replay
from benchmarks.scratch import scratch_database
from benchmarks.truth import RECORDED
from benchmarks.truth.gold import load
from benchmarks.truth.recorded_model import NAME as MODEL
from benchmarks.truth.recorded_model import RecordedAnswers, RecordedModel
from benchmarks.truth.replay import replay as post

NAME = "replay"
PROCESSES = 2
TRACES, FULL_TRACES = 2_000, 10_000
USERS_OF_A_CONVERSATION = 2
_COUNTED = ("different", "missed", "failed")


@dataclass(frozen=True, slots=True)
class Share:
    """What one process took: peak memory in MiB after a tenth of its replays and at the end, time of its processor."""

    early_mb: float
    peak_mb: float
    cpu_seconds: float


def run(*, data: Path | None = None, full: bool = False) -> dict[str, object]:
    """Return traces_per_s, same_configuration_diffs, peak_mb and how much of it came after the first tenth."""
    conversations = load()
    with scratch_database(), override_settings(MODEL=MODEL):
        project = create_project(name="Replay", slug="replay")
        for number in range(USERS_OF_A_CONVERSATION):
            for conversation in conversations:
                answers = RecordedAnswers.read(RECORDED / f"{conversation.name}.jsonl")
                model = RecordedModel(turns=conversation.turns, answers=answers)
                post(replace(conversation, user_id=f"{conversation.name}-{number}"), project=project, model=model)
        replays = _requested(project, FULL_TRACES if full else TRACES)
        seconds, shares = _replayed(replays)
        rows = list(Replay.objects.all())
    traces = sum(row.traces_done for row in rows)
    return {
        "traces_per_s": round(traces / seconds, 1),
        "same_configuration_diffs": sum(row.totals.get(name, 0) for row in rows for name in _COUNTED),
        "not_done": sum(row.state != ReplayState.DONE for row in rows),
        "traces": traces,
        "processes": PROCESSES,
        "cpu_ms_per_trace": round(1_000 * sum(share.cpu_seconds for share in shares) / traces, 2),
        "peak_mb": round(max(share.peak_mb for share in shares), 1),
        "peak_mb_grown": round(max(share.peak_mb - share.early_mb for share in shares), 1),
    }


def _requested(project: Project, traces: int) -> list[UUID]:
    """Request replays of one end user after the other, until they have so many traces together."""
    users = list(EndUser.objects.filter(project=project).order_by("external_id").values_list("external_id", flat=True))
    requested: list[UUID] = []
    total = 0
    while total < traces:
        for user in users:
            replay = request_replay(project_id=project.pk, choice=TraceChoice(user_id=user))
            requested.append(replay.pk)
            total += replay.traces_total
    Replay.objects.filter(id__in=requested).update(state=ReplayState.WAITING, started_at=timezone.now())
    return requested


def _replayed(replays: Sequence[UUID]) -> tuple[float, list[Share]]:
    """Return how long all replays took, shared out among the processes."""
    connections.close_all()
    shares = [replays[place::PROCESSES] for place in range(PROCESSES)]
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("fork")) as pool:
        list(pool.map(abs, range(PROCESSES)))  # the processes are there before the clock starts
        started = time.perf_counter()
        done = list(pool.map(_run_share, shares))
        return time.perf_counter() - started, done


def _run_share(replays: Sequence[UUID]) -> Share:
    early, started = 0.0, time.process_time()
    for place, replay_id in enumerate(replays):
        run_replay(replay_id=replay_id)
        if place == len(replays) // 10:
            early = _peak_mb()
    connections.close_all()
    return Share(early, _peak_mb(), time.process_time() - started)


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1_024
