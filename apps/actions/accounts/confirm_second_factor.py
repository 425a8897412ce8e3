"""Confirm a second factor with a first code."""

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Conflict, Unfit
from apps.tenants.models import SecondFactor
from apps.tenants.one_time_codes import hash_of, matching_step, new_recovery_codes


def confirm_second_factor(*, user_id: int, code: str) -> list[str]:
    """Ask for the second factor from now on; return its recovery codes, which are shown only once.

    Raises Unfit for a wrong code, Conflict if there is nothing to confirm.
    """
    with transaction.atomic():
        factor = SecondFactor.objects.select_for_update().filter(user_id=user_id, confirmed_at=None).first()
        if factor is None:
            raise Conflict("there is no second factor to confirm")
        step = matching_step(secret=factor.secret, code=code, moment=timezone.now())
        if step is None:
            raise Unfit("this is not the code that the app shows now", at="/code")
        codes = new_recovery_codes()
        factor.confirmed_at, factor.last_step = timezone.now(), step
        factor.recovery_hashes = [hash_of(each) for each in codes]
        factor.save()
    return codes
