"""Begin to set up a second factor."""

from django.db import transaction

from apps.actions.errors import Conflict
from apps.tenants.models import SecondFactor
from apps.tenants.one_time_codes import new_secret


def enroll_second_factor(*, user_id: int) -> str:
    """Store a new secret for a person and return it; it counts once a code has confirmed it.

    Raises Conflict if the person has a confirmed second factor.
    """
    with transaction.atomic():
        factor, _ = SecondFactor.objects.select_for_update().get_or_create(user_id=user_id)
        if factor.confirmed_at:
            raise Conflict("there is a second factor already; remove it first")
        factor.secret = new_secret()
        factor.save(update_fields=["secret"])
    return factor.secret
