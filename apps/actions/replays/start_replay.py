"""Start a replay, or resume one that was cancelled or has failed."""

from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.actions.replays.run_replay import run_replay
from apps.outbox.queue_task import queue_task
from apps.traces.models import Replay, ReplayState

IMMEDIATE_TRACES = 50  # up to this number, and without live calls, it is computed while the caller waits
TASK_SECONDS = 3_600
_STARTABLE = (ReplayState.ESTIMATED, ReplayState.CANCELLED, ReplayState.FAILED)


def start_replay(*, project_id: UUID, replay_id: UUID) -> Replay:
    """Compute few traces at once, and leave more of them to a worker; traces that are done are not done again.

    Raises NotFound, Conflict if it runs already or is done.
    """
    with transaction.atomic():
        replay = Replay.objects.select_for_update().filter(project_id=project_id, id=replay_id).first()
        if replay is None:
            raise NotFound("there is no such replay")
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
