"""Which addresses outbound connections may reach: public ones, and private ones that the settings name."""

import re
import socket
from collections.abc import Callable, Collection, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address

IpAddress = IPv4Address | IPv6Address
# Returns all addresses of a host, as the system resolves it.
Resolve = Callable[[str, int], Sequence[str]]

# Forms of IPv4 that resolvers accept and checks can miss: 2130706433, 0x7f.1, 0177.0.0.1, 127.1.
_NUMERIC = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)(\.(0[xX][0-9a-fA-F]+|\d+))*\.?")
_CARRIER_GRADE_NAT = IPv4Network("100.64.0.0/10")


class ForbiddenAddress(OSError):
    """The host is, or resolves to, an address that may not be reached."""


def allowed_address(host: str, port: int, *, private_hosts: Collection[str], resolve: Resolve) -> str:
    """Return the address to connect to, resolved once; a name of which any address is forbidden is refused.

    Hosts in `private_hosts` may have private and loopback addresses. Raises ForbiddenAddress, and OSError where a name
    has no address.
    """
    named = host.strip("[]").lower()
    literal = _literal(named)
    found = [literal] if literal else [ip_address(each.partition("%")[0]) for each in resolve(named, port)]
    if not found:
        raise ForbiddenAddress(f"{host} has no address")
    may_be_private = named in {each.strip("[]").lower() for each in private_hosts}
    for address in found:
        if problem := _problem(address, may_be_private=may_be_private):
            raise ForbiddenAddress(f"{host}: {address} is {problem}")
    return str(found[0])


def system_addresses(host: str, port: int) -> list[str]:
    """Return all addresses of a name, in the system's order. Raises OSError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError as error:  # a part of the name is empty or too long
        raise ForbiddenAddress(f"{host} is no valid name") from error
    return list(dict.fromkeys(str(each[4][0]) for each in found))


def _literal(host: str) -> IpAddress | None:
    """Return the address that a host is written as. Raises ForbiddenAddress for unusual forms of IPv4."""
    try:
        return ip_address(host)
    except ValueError:
        if _NUMERIC.fullmatch(host):
            raise ForbiddenAddress(f"{host} is an unusual form of an address") from None
        return None


def _problem(address: IpAddress, *, may_be_private: bool) -> str:
    """Return why an address may not be reached, "" if it may."""
    if isinstance(address, IPv6Address):
        embedded = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if embedded is not None:
            return "an IPv4 address within IPv6"
    if address.is_unspecified or address.is_multicast or address.is_link_local:
        return "unspecified, multicast or link-local"
    if may_be_private:
        return ""
    if address.is_private or address.is_loopback or address.is_reserved or address in _CARRIER_GRADE_NAT:
        return "not public, and the host is not among those that may be private"
    return ""
