"""Who may read metrics: the holder of METRICS_TOKEN, or without one the own network."""

import hmac
from collections.abc import Iterable
from ipaddress import IPv6Address, ip_address

from django.conf import settings


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
