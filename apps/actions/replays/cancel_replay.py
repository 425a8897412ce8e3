"""Cancel a replay; what it has found stays, and it can be resumed."""

from uuid import UUID

from django.utils import timezone

from apps.actions.errors import Conflict, NotFound
from apps.traces.models import Replay, ReplayState

_CANCELLABLE = (ReplayState.ESTIMATED, ReplayState.WAITING, ReplayState.RUNNING)


def cancel_replay(*, project_id: UUID, replay_id: UUID) -> Replay:
    """Cancel a replay that is not over; one that runs stops after the traces at hand. Raises NotFound, Conflict."""
    rows = Replay.objects.filter(project_id=project_id, id=replay_id)
    cancelled = rows.filter(state__in=_CANCELLABLE).update(state=ReplayState.CANCELLED, finished_at=timezone.now())
    replay = rows.first()
    if replay is None:
        raise NotFound("there is no such replay")
    if not cancelled and replay.state != ReplayState.CANCELLED:
        raise Conflict(f"the replay is {replay.state}")
    return replay
