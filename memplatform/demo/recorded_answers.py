"""The sample is extracted from recorded answers of a model, what is told later by the project's own settings."""

from uuid import UUID

from django.db.models import QuerySet

from apps.pipeline.core.enums import ExtractorKind
from apps.projects.services import configure, restore_version
from apps.tenants.management.project_argument import project_named
from apps.tenants.scope import tenant_scope
from apps.traces.models import ConfigurationVersion
from apps.traces.policies import active_policy

MODEL = "recorded:three_weeks"
NOTE = "the sample is extracted from recorded answers of a model"


def answer_the_sample(*, project: str) -> None:
    """Let a project extract from recorded answers; only once, as the sample is stored only once."""
    project_id = project_named(project).pk
    with tenant_scope(project_id=project_id):
        if _versions(project_id).filter(note=NOTE).exists():
            return
        policy = active_policy(project_id=project_id)
        recorded = policy.extraction.model_copy(update={"extractor": ExtractorKind.MODEL, "model": MODEL})
        configure(project_id=project_id, policy=policy.model_copy(update={"extraction": recorded}), note=NOTE)


def end_answers(*, project: str) -> None:
    """Restore the settings that a project had before; settings that somebody has changed since stay."""
    project_id = project_named(project).pk
    with tenant_scope(project_id=project_id):
        active = _versions(project_id).filter(is_active=True).first()
        if active is not None and active.note == NOTE and active.base is not None:
            restore_version(project_id=project_id, number=active.base)


def _versions(project_id: UUID) -> QuerySet[ConfigurationVersion]:
    return ConfigurationVersion.objects.filter(project_id=project_id)
