"""Go on with replays whose process died."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from apps.actions.replays.start_replay import queue_replay
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Replay, ReplayState

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
