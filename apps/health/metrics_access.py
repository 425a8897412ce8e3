"""Who may read metrics and the figures of /readyz: the holder of METRICS_TOKEN, or without one the own network."""

import hmac
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

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


def may_read_metrics(*, authorization: str, addresses: Iterable[str]) -> bool:
    """Return True for the token, or where none is configured if all addresses of a caller are loopback or private.

    `authorization` is the header of this name, and empty without one.
    """
    if settings.METRICS_TOKEN:
        scheme, _, token = authorization.partition(" ")
        is_same = hmac.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
        return scheme.lower() == "bearer" and is_same
    return all(map(_is_private, addresses))


def _is_private(address: str) -> bool:
    try:
        read = ip_address(address.strip())
    except ValueError:
        return False
    if isinstance(read, IPv6Address) and read.ipv4_mapped:
        return read.ipv4_mapped.is_private
    return read.is_private
