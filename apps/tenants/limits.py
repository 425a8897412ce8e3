"""Rate limits, and the address of a caller behind proxies."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address

from django.conf import settings
from django.contrib.postgres.functions import TransactionNow
from django.db import transaction
from django.db.models import DateTimeField, F, Func, Value
from django.db.models.functions import Now
from django.http import HttpRequest

from apps.tenants.models import RateCounter


def client_address(request: HttpRequest) -> str:
    """Return the address that a request comes from; of IPv6 its network, as one client has many addresses.

    Behind PROXIES proxies it is the address that the first of them added to X-Forwarded-For; what a client itself has
    sent stands before it.
    """
    address = request.META.get("REMOTE_ADDR", "")
    if settings.PROXIES:
        forwarded = [each.strip() for each in request.headers.get("X-Forwarded-For", "").split(",")]
        address = forwarded[-settings.PROXIES] if len(forwarded) >= settings.PROXIES else address
    try:
        read = ip_address(address)
    except ValueError:
        return "unknown"
    return str(read) if read.version == 4 else read.exploded[:19]


PRUNED_AT_ONCE = 5_000
_EPOCH = datetime.fromtimestamp(0, UTC)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `most` events of a subject in each window of `seconds`; windows begin at multiples of their length."""

    subject: str
    most: int
    seconds: int


def seconds_to_wait(limit: RateLimit) -> int:
    """Count an event; return 0, or how many seconds are left of a window that has its maximum already.

    Call it outside of transactions, which would hold the lock on the counter until they end.
    """
    length = Value(timedelta(seconds=limit.seconds))
    start = Func(length, TransactionNow(), Value(_EPOCH), function="date_bin", output_field=DateTimeField())
    with transaction.atomic():
        counter = RateCounter(subject=limit.subject, window_start=start, ends_at=start + length, count=0)
        RateCounter.objects.bulk_create([counter], ignore_conflicts=True)
        window = RateCounter.objects.filter(subject=limit.subject, window_start=start)
        is_counted = window.filter(count__lt=limit.most).update(count=F("count") + 1) > 0
    return 0 if is_counted else limit.seconds - int(time.time()) % limit.seconds


def forget(subject: str) -> None:
    """Delete the counters of a subject."""
    RateCounter.objects.filter(subject=subject).delete()


def prune_counters() -> int:
    """Delete the counters of past windows, up to PRUNED_AT_ONCE; return how many were deleted."""
    past = RateCounter.objects.filter(ends_at__lt=Now()).order_by("ends_at")
    return RateCounter.objects.filter(id__in=list(past.values_list("id", flat=True)[:PRUNED_AT_ONCE])).delete()[0]
