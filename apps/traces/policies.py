"""The policies of configuration versions: which one is active, and what it says."""

from functools import lru_cache
from uuid import UUID

from django.db.models import OuterRef, Subquery

from apps.pipeline.core.policy import Policy
from apps.traces.models import ConfigurationVersion


def active_policy(*, project_id: UUID) -> Policy:
    """Return the policy that a project's next request runs under, or the product's own where it has none.

    One short query; the policy itself is read once per version and process.
    """
    active = ConfigurationVersion.objects.filter(project_id=project_id, is_active=True)
    configuration_id = active.values_list("id", flat=True).first()
    return policy_of(configuration_id) if configuration_id else Policy()


@lru_cache(maxsize=64)
def policy_of(configuration_id: UUID) -> Policy:
    """Return the policy of a configuration version; versions never change, so they are kept in memory."""
    return ConfigurationVersion.objects.get(id=configuration_id).as_policy()


def active_configuration(project: str) -> Subquery:
    """Return the active version of the project that a column of a query names, to read it with the rows."""
    active = ConfigurationVersion.objects.filter(project_id=OuterRef(project), is_active=True)
    return Subquery(active.values("id")[:1])
