"""Conversations that were processed, and their replays."""

from collections.abc import Iterable
from uuid import UUID

from apps.memories.models import Memory
from apps.pipeline.core.policy import Policy
from apps.providers import registry
from apps.traces.models import ReplayedState
from apps.traces.runs import run_heads
from apps.tuning.replays.replaying import ReplayedRun, UserReplay


def replay_of(
    end_user_id: UUID, *, policy: Policy | None = None, traces: Iterable[UUID] | None = None, is_isolated: bool = False
) -> tuple[list[ReplayedRun], UserReplay]:
    """Replay traces of an end user, all of them unless some are named."""
    heads = run_heads(end_user_id=end_user_id, trace_ids=None if traces is None else list(traces))
    embedder = registry.embedder()
    replay = UserReplay(end_user_id=end_user_id, heads=heads, embedder=embedder, policy=policy, is_isolated=is_isolated)
    return list(replay.run()), replay


def differences(runs: Iterable[ReplayedRun]) -> list[ReplayedRun]:
    """Return the runs that did not end as they were recorded."""
    return [run for run in runs if run.state is not ReplayedState.SAME]


def stored(end_user_id: UUID) -> list[tuple[object, ...]]:
    """Return what is stored of an end user, without identifiers."""
    rows = Memory.objects.filter(end_user_id=end_user_id)
    return sorted((row.content, row.status, row.valid_until, row.confidence, row.version) for row in rows)


def replayed(replay: UserReplay) -> list[tuple[object, ...]]:
    """Return the same of a replay."""
    memories = [each.memory for each in replay.state.memories.values()]
    return sorted((each.content, each.status, each.valid_until, each.confidence, each.version) for each in memories)
