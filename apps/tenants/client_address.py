"""The address that a request comes from."""

from ipaddress import ip_address

from django.conf import settings
from django.http import HttpRequest


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
