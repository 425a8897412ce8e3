"""Remove the second factor of a person."""

import structlog

from apps.actions.ledger.actor import current_actor
from apps.tenants.models import SecondFactor

_log = structlog.get_logger(__name__)


def remove_second_factor(*, user_id: int) -> bool:
    """Remove a person's second factor, confirmed or not; return False if there was none."""
    removed, _ = SecondFactor.objects.filter(user_id=user_id).delete()
    if removed:
        _log.warning("second factor removed", person=user_id, actor=current_actor())
    return bool(removed)
