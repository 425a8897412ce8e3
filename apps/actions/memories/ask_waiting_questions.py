"""Ask the model for the questions of memories that have waited long for nine others to share a call with them."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.live_ports import live
from apps.actions.memories.questions_due import LONGEST_WAIT, unasked
from apps.outbox.enqueue import enqueue
from apps.pipeline.core.enums import WorkKind
from apps.pipeline.indexing.model_questions import questions_model
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope
from apps.traces.policies import active_policy

# What is older was asked about in time, or comes from a time without a model: ten of a user make a call of their own.
MOST_AGE = timedelta(days=8)


def ask_waiting_questions() -> int:
    """Enqueue a call for each end user with a memory that has waited for a day; return for how many users.

    A user for whom a call is enqueued already gets no second one.
    """
    ports = live()
    with system_scope(SystemWork.SCHEDULE):
        projects = list(Project.objects.values_list("id", flat=True))
    asked = 0
    for project_id in projects:
        with tenant_scope(project_id=project_id):
            if questions_model(active_policy(project_id=project_id), ports) is not None:
                asked += _enqueue(project_id, embedder=ports.embedder.name)
    return asked


def _enqueue(project_id: UUID, *, embedder: str) -> int:
    now = timezone.now()
    waiting = unasked(embedder=embedder).filter(
        project_id=project_id, created_at__range=(now - MOST_AGE, now - LONGEST_WAIT)
    )
    oldest = dict(waiting.order_by("end_user_id", "-id").values_list("end_user_id", "id"))
    for end_user_id, memory_id in oldest.items():
        with transaction.atomic():
            enqueue(
                end_user_id=end_user_id,
                project_id=project_id,
                kind=WorkKind.ASK_QUESTIONS,
                subject_ids=[memory_id],
            )
    return len(oldest)
