"""Record that a key's word counts like a person's."""

from apps.actions.ledger.record import record
from apps.pipeline.core.enums import Scope
from apps.tenants.models import ApiKey


def record_trust(key: ApiKey) -> None:
    """Add an entry of its own for a key with the scope trust, which admin includes."""
    if not {Scope.TRUST.value, Scope.ADMIN.value}.isdisjoint(key.scopes):
        details = {"scopes": key.scopes}
        record(
            project_id=key.project_id, verb="trust_granted", object_kind="api_key", object_id=key.pk, details=details
        )
