"""Whether the caller of a request may read /metrics and the figures of /readyz."""

from django.http import HttpRequest
from rest_framework.request import Request

from apps.telemetry.metrics_access import may_read_metrics

# Proxies add the caller's address to the first header, or write it to the second. Callers can send both with any
# addresses, so all addresses have to be private.
_FORWARDING = ("X-Forwarded-For", "X-Real-IP")
_UNREADABLE = "forwarded"  # whatever the header Forwarded says is taken for an address that is not private


def caller_may_read_metrics(request: HttpRequest | Request) -> bool:
    """Return True if a request shows the token, or where none is configured comes from a loopback or private address.

    A request that went through a proxy counts as coming from wherever the proxy says.
    """
    named = [address for header in _FORWARDING for address in request.headers.get(header, "").split(",") if address]
    unread = [_UNREADABLE] if "Forwarded" in request.headers else []
    return may_read_metrics(
        authorization=request.headers.get("Authorization", ""),
        addresses=[request.META.get("REMOTE_ADDR", ""), *named, *unread],
    )
