"""Check a code of a person's second factor."""

from django.db import transaction
from django.utils import timezone

from apps.actions.errors import Refused
from apps.tenants.models import SecondFactor
from apps.tenants.one_time_codes import hash_of, matching_step
from apps.tenants.rate_limits import RateLimit, forget, seconds_to_wait

_MINUTES = 60
_HOURS = 60 * _MINUTES


class TooManyCodes(Refused):
    """Too many codes were tried; `seconds` until the next attempt."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many codes; try again in {-(-seconds // _MINUTES)} minutes")
        self.seconds = seconds


def has_second_factor(*, user_id: int) -> bool:
    """Return True if a person has to give a code after the password."""
    return SecondFactor.objects.filter(user_id=user_id, confirmed_at__isnull=False).exists()


def check_second_factor(*, user_id: int, code: str) -> bool:
    """Return True for a code of the app or a recovery code; either works once.

    Raises TooManyCodes after 5 attempts in 5 minutes or 50 in a day, before the code is looked at.
    """
    short = RateLimit(f"code:{user_id}", most=5, seconds=5 * _MINUTES)
    for limit in (short, RateLimit(f"code:day:{user_id}", most=50, seconds=24 * _HOURS)):
        if wait := seconds_to_wait(limit):
            raise TooManyCodes(wait)
    is_right = _use(user_id=user_id, code=code)
    if is_right:
        forget(short.subject)
    return is_right


def _use(*, user_id: int, code: str) -> bool:
    with transaction.atomic():
        factor = SecondFactor.objects.select_for_update().filter(user_id=user_id, confirmed_at__isnull=False).first()
        if factor is None:
            return False
        step = matching_step(secret=factor.secret, code=code, moment=timezone.now())
        hashed = hash_of(code)
        if step is not None and step > factor.last_step:
            factor.last_step = step
        elif hashed in factor.recovery_hashes:
            factor.recovery_hashes = [each for each in factor.recovery_hashes if each != hashed]
        else:
            return False
        factor.save(update_fields=["last_step", "recovery_hashes"])
        return True
