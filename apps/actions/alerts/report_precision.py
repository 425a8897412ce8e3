"""Report the precision that an evaluation has found, for alerts about memories that are often wrong."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.alerts.apply_decisions import hold_project, update_alerts
from apps.pipeline.alerts.precision import PrecisionWarning, precision_conditions
from apps.pipeline.core.enums import AlertKind


def report_precision(*, project_id: UUID, warnings: Sequence[PrecisionWarning]) -> int:
    """Open an alert for each precision below 70 %, and resolve those that are not among them; return how many hold.

    To be called after each evaluation, also without warnings: alerts are resolved at once, as evaluations are rare.
    """
    conditions = precision_conditions(warnings)
    with transaction.atomic():
        hold_project(project_id)
        update_alerts(
            project_id=project_id,
            conditions=conditions,
            kinds=[AlertKind.EVALUATION_PRECISION],
            now=timezone.now(),
            resolve_after=timedelta(0),
        )
    return len(conditions)
