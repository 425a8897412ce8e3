"""Time to apply a retention period to many traces, and to erase the largest end users."""

from datetime import datetime, timedelta
from time import perf_counter
from uuid import UUID

from django.utils import timezone

from apps.privacy.apply_retention import apply_retention
from apps.privacy.users import USER_TABLES, erase_user
from apps.projects.services import configure
from apps.tenants.models import EndUser, Erasure, Project
from apps.traces.models import Trace
from apps.traces.policies import active_policy
from benchmarks.scale.filling import Filled

WHOLE = timedelta(hours=1)  # long enough for everything at once


def delete(filled: Filled, *, traces: int) -> dict[str, object]:
    """Return seconds and rows of both."""
    return {
        "retention": _retention(filled.project, traces),
        "erased_large": _erase(filled.project, filled.large),
    }


def _retention(project: Project, traces: int) -> dict[str, float]:
    """Apply a period that so many of the oldest traces are older than."""
    oldest = Trace.objects.filter(project=project).order_by("created_at").values_list("created_at", flat=True)
    until: datetime = oldest[min(traces, oldest.count()) - 1]
    days = max((timezone.now() - until).days, 1)
    older = Trace.objects.filter(project=project, created_at__lt=timezone.now() - timedelta(days=days)).count()
    policy = active_policy(project_id=project.id)
    kept = policy.retention.model_copy(update={"trace_days": days, "turn_days": days})
    configure(project_id=project.id, policy=policy.model_copy(update={"retention": kept}), note="retention")
    started = perf_counter()
    rows = apply_retention(most=WHOLE)
    return {"traces": older, "rows": rows, "seconds": round(perf_counter() - started, 2)}


def _erase(project: Project, user_id: UUID) -> dict[str, float]:
    user = EndUser.objects.get(id=user_id)
    started = perf_counter()
    erasure: Erasure = erase_user(project_id=project.id, user_id=user.external_id, wait=WHOLE)
    seconds = perf_counter() - started
    left = {table.name: table.model._default_manager.filter(end_user_id=user_id).count() for table in USER_TABLES}
    if any(left.values()):
        raise RuntimeError(f"not everything was erased: {left}")
    rows = sum(erasure.counts.values())
    return {"rows": rows, "seconds": round(seconds, 2), "seconds_per_100k_rows": round(seconds / rows * 100_000, 2)}
