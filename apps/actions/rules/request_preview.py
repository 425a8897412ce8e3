"""Request a preview of what a rule would have done to the turns of the last days."""

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import NotFound, Unfit
from apps.actions.rules.run_preview import run_preview
from apps.actions.rules.save_rule import with_rule, with_rules
from apps.outbox.queue_task import queue_task
from apps.pipeline.core.policy import Rule
from apps.tenants.models import Project
from apps.traces.models import RulePreview
from apps.traces.policies import active_policy
from apps.traces.requests import count_turns

MOST_DAYS = 90
MOST_TURNS = 100_000  # the latest ones; more would exceed the time limit of a preview
IMMEDIATE_TURNS = 500  # up to this number, the preview is computed while the caller waits
RETENTION = timedelta(days=1)


def request_preview(*, project_id: UUID, rule: Rule, days: int, person_id: int | None = None) -> RulePreview:
    """Create a preview and compute it at once for few turns, otherwise in a worker; return it.

    Raises Unfit for an unusable pattern or too many days, NotFound for an unknown project.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Unfit(f"from 1 to {MOST_DAYS} days", at="/days")
    if not Project.objects.filter(pk=project_id).exists():
        raise NotFound("there is no such project")
    policy = active_policy(project_id=project_id)
    with_rules(policy, with_rule(policy.pre_filter.rules, rule))
    now = timezone.now()
    total = count_turns(project_id=project_id, since=now - timedelta(days=days), most=MOST_TURNS)
    RulePreview.objects.filter(project_id=project_id, created_at__lt=now - RETENTION).delete()
    preview = RulePreview.objects.create(
        project_id=project_id,
        person_id=person_id,
        rule=rule.model_dump(mode="json"),
        days=days,
        turns_total=total,
        created_at=now,
    )
    if total <= IMMEDIATE_TURNS:
        run_preview(preview_id=preview.pk)
    else:
        transaction.on_commit(lambda: queue_task("preview_rule", str(preview.pk), group="preview"))
    preview.refresh_from_db()
    return preview
