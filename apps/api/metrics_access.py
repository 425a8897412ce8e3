"""Who may read /metrics and the figures of /readyz: the holder of METRICS_TOKEN, or without one the own network."""

import hmac
from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest
from rest_framework.request import Request

# Proxies add the caller's address to the first header, or write it to the second. Callers can send both with any
# addresses, so all addresses have to be private.
_FORWARDING = ("X-Forwarded-For", "X-Real-IP")


def may_read_metrics(request: HttpRequest | Request) -> bool:
    """Return True if a request shows the token, or where none is configured comes from a loopback or private address.

    A request that went through a proxy counts as coming from wherever the proxy says.
    """
    if settings.METRICS_TOKEN:
        scheme, _, token = request.headers.get("Authorization", "").partition(" ")
        is_same = hmac.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
        return scheme.lower() == "bearer" and is_same
    named = [address for header in _FORWARDING for address in request.headers.get(header, "").split(",")]
    addresses = [request.META.get("REMOTE_ADDR", ""), *(address for address in named if address)]
    return "Forwarded" not in request.headers and all(map(_is_private, addresses))


def _is_private(address: str) -> bool:
    try:
        read = ip_address(address.strip())
    except ValueError:
        return False
    if isinstance(read, IPv6Address) and read.ipv4_mapped:
        return read.ipv4_mapped.is_private
    return read.is_private
