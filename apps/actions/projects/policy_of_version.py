"""Look up the policy of a project by the number of its configuration version."""

from uuid import UUID

from apps.actions.errors import NotFound
from apps.pipeline.core.policy import Policy
from apps.traces.models import ConfigurationVersion
from apps.traces.policies import active_policy


def policy_of_version(*, project_id: UUID, number: int | None) -> Policy:
    """Return the policy of a version; None stands for the active one. Raises NotFound."""
    if number is None:
        return active_policy(project_id=project_id)
    version = ConfigurationVersion.objects.filter(project_id=project_id, number=number).first()
    if version is None:
        raise NotFound("there is no such version")
    return version.as_policy()
