"""What the screenshots show beside the demo's conversation: totals, a replay of a draft, and an alert."""

from datetime import timedelta

from django.utils import timezone

from apps.alerts.services import evaluate_alerts
from apps.outbox.models import ModelPause, PausedKind
from apps.pipeline.core.enums import Reason, Role
from apps.pipeline.core.policy import Rule
from apps.tenants.command_arguments import project_named
from apps.tenants.models import Project
from apps.tenants.scope import tenant_scope
from apps.traces.tallies import tally
from apps.tuning.replays.services import request_replay, start_replay
from apps.tuning.rules import save_rule

RULE = Rule(name="moving", reason=Reason.PATTERN, pattern="(?i)moved to", roles=(Role.USER,), order=1)


def arrange() -> None:
    """Compute the dashboard's totals, and replay the demo's traces under a draft with one more rule."""
    tally(settled_after=timedelta())
    project = _project()
    with tenant_scope(project_id=project.pk):
        draft = save_rule(project_id=project.pk, rule=RULE, as_draft=True)
        replay = request_replay(project_id=project.pk, version=draft.number)
        start_replay(project_id=project.pk, replay_id=replay.pk)


def silence_the_model() -> None:
    """Let the model be silent for a quarter of an hour, and open the alert."""
    project, now = _project(), timezone.now()
    with tenant_scope(project_id=project.pk):
        ModelPause.objects.create(
            project=project,
            model="anthropic:claude-haiku-4-5",
            kind=PausedKind.MODEL,
            since=now - timedelta(minutes=15),
            until=now + timedelta(hours=1),
        )
    evaluate_alerts()


def _project() -> Project:
    return project_named("demo")
