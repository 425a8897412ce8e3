"""Who may read /metrics, which names projects: the holder of METRICS_TOKEN, or without one the own network."""

import hmac
from ipaddress import IPv6Address, ip_address

from django.conf import settings
from django.http import HttpRequest

# Proxies add the address of whoever called them to the first, or write it into the second. A caller may have sent
# either, with more addresses: all have to be private, so that claiming one gains nothing.
_FORWARDING = ("X-Forwarded-For", "X-Real-IP")


def may_read_metrics(request: HttpRequest) -> bool:
    """Return True if a request shows the token, or where none is configured comes from a loopback or private address.

    A request that went through a proxy counts as coming from wherever the proxy says.
    """
    if settings.METRICS_TOKEN:
        return _shows_token(request)
    named = [address for header in _FORWARDING for address in request.headers.get(header, "").split(",")]
    addresses = [request.META.get("REMOTE_ADDR", ""), *(address for address in named if address)]
    return "Forwarded" not in request.headers and all(map(_is_private, addresses))


def _shows_token(request: HttpRequest) -> bool:
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    is_same = hmac.compare_digest(token.strip().encode(), settings.METRICS_TOKEN.encode())
    return scheme.lower() == "bearer" and is_same


def _is_private(address: str) -> bool:
    try:
        read = ip_address(address.strip())
    except ValueError:
        return False
    if isinstance(read, IPv6Address) and read.ipv4_mapped:
        return read.ipv4_mapped.is_private
    return read.is_private
