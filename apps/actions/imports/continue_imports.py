"""Go on with imports that wait, and with those whose process died."""

from django.db.models import Q
from django.utils import timezone

from apps.actions.imports.delete_file import forget_old_files
from apps.actions.imports.start_import import TASK_SECONDS, queue_import
from apps.imports.models import FileImport
from apps.outbox.queue_task import queue_task
from apps.pipeline.core.enums import ImportState
from apps.tenants.system_scope import SystemWork, system_scope


def continue_imports() -> int:
    """Queue the imports that are due and that nobody works on; return how many. Old files are deleted beside."""
    now = timezone.now()
    due = Q(resume_at__isnull=True) | Q(resume_at__lte=now)
    nobody = Q(leased_until__isnull=True) | Q(leased_until__lt=now)
    with system_scope(SystemWork.SCHEDULE):
        rows = FileImport.objects.filter(due, nobody)
        checks = list(rows.filter(state=ImportState.CHECKING).values_list("id", flat=True))
        runs = list(rows.filter(state__in=(ImportState.WAITING, ImportState.RUNNING)).values_list("id", flat=True))
    for import_id in checks:
        queue_task("check_import", str(import_id), group="import", timeout=TASK_SECONDS)
    for import_id in runs:
        queue_import(import_id)
    forget_old_files()
    return len(checks) + len(runs)
