"""A model that answers what a test says."""

from typing import Any

from apps.pipeline.core.policy import ExtractionPolicy, Policy
from apps.projects.services import configure
from apps.tenants.models import Project

AT_ONCE = {"retry-after-ms": "1"}


def extracted_with(project: Project, **limits: Any) -> None:
    configure(project_id=project.id, policy=Policy(extraction=ExtractionPolicy.model_validate(limits)))
