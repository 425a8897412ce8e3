"""The policies of configuration versions: which one is active, and what it says."""

from functools import lru_cache
from uuid import UUID

from django.db import connection
from django.db.models import OuterRef, Subquery

from apps.pipeline.core.policy import Policy
from apps.traces.models import ConfigurationVersion

# Raw SQL, because every search runs it: a queryset takes several times as long.
_ACTIVE = "select id from traces_configurationversion where project_id = %s and is_active"


def active_policy(*, project_id: UUID) -> Policy:
    """Return the policy that a project's next request runs under, or the product's own where it has none.

    One short query; the policy itself is read once per version and process.
    """
    with connection.cursor() as cursor:
        cursor.execute(_ACTIVE, [project_id])
        row = cursor.fetchone()
    return policy_of(row[0]) if row else Policy()


@lru_cache(maxsize=64)
def policy_of(configuration_id: UUID) -> Policy:
    """Return the policy of a configuration version; versions never change, so they are kept in memory."""
    return ConfigurationVersion.objects.get(id=configuration_id).as_policy()


def active_configuration(project: str) -> Subquery:
    """Return the active version of the project that a column of a query names, to read it with the rows."""
    active = ConfigurationVersion.objects.filter(project_id=OuterRef(project), is_active=True)
    return Subquery(active.values("id")[:1])
