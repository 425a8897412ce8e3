"""Failed work, and models that do not answer."""

from collections import Counter
from typing import Any
from uuid import UUID

from django.db.models import Count
from django.db.models.functions import Left
from django.utils import timezone

from apps.common.number_formats import age
from apps.console.labels import count_of
from apps.outbox.model_pauses import waiting_requests
from apps.outbox.models import ModelPause, OutboxRow, PausedKind
from apps.pipeline.core.enums import TraceStatus, WorkState
from apps.traces.models import Trace

ERROR_CHARACTERS = 120  # of an error; errors that begin with the same text form one group
MOST_GROUPS = 20


def failed_work(*, project_id: UUID) -> dict[str, Any]:
    """Count dead work and failed extractions, the largest groups first, from partial indexes."""
    dead = OutboxRow.objects.filter(project_id=project_id, state=WorkState.DEAD)
    failed = Trace.objects.filter(project_id=project_id, status=TraceStatus.EXTRACTION_FAILED)
    errors, users = Counter[str](), Counter[str]()
    for rows, error in ((dead, "last_error"), (failed, "error")):
        groups = rows.order_by().annotate(begins=Left(error, ERROR_CHARACTERS))
        errors.update(dict(groups.values_list("begins").annotate(count=Count("pk"))))
        users.update(dict(rows.order_by().values_list("end_user__external_id").annotate(count=Count("pk"))))
    largest = {"by_error": errors.most_common(MOST_GROUPS), "by_user": users.most_common(MOST_GROUPS)}
    return {"total": errors.total(), **largest}


def pause_text(pause: ModelPause) -> str:
    """Return what has happened to a model, what waits for it, and when it is tried again."""
    now, waiting = timezone.now(), waiting_requests(project_id=pause.project_id, model=pause.model)
    what = "embedder" if pause.kind == PausedKind.EMBEDDER else "model"
    since = f"{pause.since:%H:%M} UTC" if pause.since.date() == now.date() else f"{pause.since:%Y-%m-%d %H:%M} UTC"
    seconds = (pause.until - now).total_seconds()
    next_try = f"next try in {age(seconds)}" if seconds >= 1 else "the next try is due"
    error = f": {pause.error.rstrip('.')}" if pause.error else ""
    return (
        f"The {what} {pause.model} has not answered since {since}{error}. "
        f"{count_of(waiting, 'request')} {'waits' if waiting == 1 else 'wait'}; {next_try}."
    )
