"""End the sessions in which nobody has said anything for a while."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from apps.actions.sessions.end_session import end_session
from apps.traces.models import Session

AT_ONCE = 500  # sessions a run; the next minute takes the next ones


def end_idle_sessions() -> int:
    """End every session that has been idle for SESSION_IDLE_MINUTES; return how many these were."""
    before = timezone.now() - timedelta(minutes=settings.SESSION_IDLE_MINUTES)
    idle = Session.objects.filter(ended_at__isnull=True, last_turn_at__lt=before).order_by("last_turn_at")[:AT_ONCE]
    for session in idle:
        end_session(project_id=session.project_id, end_user_id=session.end_user_id, session_id=session.id)
    return len(idle)
