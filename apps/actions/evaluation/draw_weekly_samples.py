"""Draw the samples of the last week of every project, once."""

import structlog
from django.utils import timezone

from apps.actions.errors import Unfit
from apps.actions.evaluation.draw_samples import WEEK, DrawRequest, draw_samples, start_of, week_of
from apps.memories.models import EvaluationSample
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.tenants.system_scope import SystemWork, system_scope

log = structlog.get_logger(__name__)


def draw_weekly_samples() -> int:
    """Draw the samples of the week that ended last, in UTC, where that is not done yet; return for how many projects.

    It may run at any time of the week: a day that was missed is made up for.
    """
    until = start_of(week_of(timezone.now()))
    with system_scope(SystemWork.SCHEDULE):
        done = EvaluationSample.objects.filter(since=until - WEEK, until=until).values("project_id")
        projects = list(Project.objects.exclude(id__in=done).values_list("id", flat=True))
    drawn = 0
    for project_id in projects:
        with tenant_scope(project_id=project_id):
            try:
                samples = draw_samples(request=DrawRequest(project_id, since=until - WEEK, until=until))
            except Unfit:  # nothing happened in that week
                continue
        log.info("samples drawn", project=str(project_id), samples=[each.shown_id for each in samples])
        drawn += 1
    return drawn
