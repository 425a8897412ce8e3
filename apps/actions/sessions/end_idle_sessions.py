"""End sessions without new turns for a while."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone

from apps.actions.sessions.end_session import end_session
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.models import Session

BATCH = 500  # sessions per run; the next run follows a minute later


def end_idle_sessions() -> int:
    """End sessions that have been idle for SESSION_IDLE_MINUTES; return how many were ended."""
    before = timezone.now() - timedelta(minutes=settings.SESSION_IDLE_MINUTES)
    idle = Session.objects.filter(ended_at__isnull=True, last_turn_at__lt=before).order_by("last_turn_at")[:BATCH]
    with system_scope(SystemWork.SCHEDULE):
        sessions = list(idle)
    for session in sessions:
        with tenant_scope(project_id=session.project_id, end_user_id=session.end_user_id):
            end_session(project_id=session.project_id, end_user_id=session.end_user_id, session_id=session.id)
    return len(sessions)
