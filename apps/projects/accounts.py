"""The second factor of accounts: enroll, confirm, check and remove it."""

import structlog
from django.db import transaction
from django.utils import timezone

from apps.common.errors import Conflict, Refused, Unfit
from apps.memories.ledger.actor import current_actor
from apps.tenants.codes import hash_of, matching_step, new_recovery_codes, new_secret
from apps.tenants.limits import RateLimit, forget, seconds_to_wait
from apps.tenants.models import SecondFactor


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
    forget(short.subject)
    return True


_log = structlog.get_logger(__name__)


def remove_second_factor(*, user_id: int) -> bool:
    """Remove a person's second factor, confirmed or not; return False if there was none."""
    removed, _ = SecondFactor.objects.filter(user_id=user_id).delete()
    if removed:
        _log.warning("second factor removed", person=user_id, actor=current_actor())
    return bool(removed)
