"""HTTP to models and webhooks: only to addresses that may be reached, within limits of size and time."""

import re
import socket
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cache
from ipaddress import IPv4Address, IPv6Address, ip_address
from ssl import SSLContext
from threading import local
from typing import Any
from urllib.request import getproxies

import httpcore2
import httpx2
from django.conf import settings

IpAddress = IPv4Address | IPv6Address
# Returns all addresses of a host, as the system resolves it.
Resolve = Callable[[str, int], Sequence[str]]

# Forms of IPv4 that resolvers accept and checks can miss: 2130706433, 0x7f.1, 0177.0.0.1, 127.1.
_NUMERIC = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)(\.(0[xX][0-9a-fA-F]+|\d+))*\.?")


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
            # Without the address: whoever names a host is not to learn what internal names resolve to.
            raise ForbiddenAddress(f"the address of {host} is {problem}")
    return str(found[0])


def refuse_named_address(host: str, *, private_hosts: Collection[str]) -> None:
    """Refuse a host that is written as an address which may not be reached, or is this one; no name is resolved.

    Raises ForbiddenAddress.
    """
    named = host.strip("[]").lower()
    if _literal(named) or named == "localhost":
        allowed_address(host, 0, private_hosts=private_hosts, resolve=lambda *_: ["127.0.0.1"])


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
    is_local = isinstance(address, IPv6Address) and address.is_site_local  # deprecated, and global for Python
    if is_local or address.is_reserved or not address.is_global:
        return "not public, and the host is not among those that may be private"
    return ""


MOST_BYTES = 16 * 1024 * 1024  # of an answer with its headers; 128 vectors of 3,072 numbers are about 8 MB of JSON
_CONNECT_SECONDS, _KEEPALIVE_SECONDS = 5.0, 30.0


def timeout_of(seconds: float) -> httpx2.Timeout:
    """Return the timeout of a call that has so many seconds left."""
    left = max(seconds, 0.001)
    return httpx2.Timeout(left, connect=min(_CONNECT_SECONDS, left))


def guarded_client(*, timeout: Any, connections: int, private_hosts: Collection[str] | None = None) -> httpx2.Client:
    """Return a client that follows no redirects; through a proxy of the environment, the proxy's rules apply.

    `private_hosts` may have private addresses; None: those of the setting PRIVATE_HOSTS.
    """
    is_proxied = bool(getproxies().keys() & {"http", "https", "all"})
    transport = None if is_proxied else GuardedTransport(connections=connections, private_hosts=private_hosts)
    limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
    return httpx2.Client(
        transport=transport,
        timeout=timeout,
        limits=limits,
        follow_redirects=False,
        headers={"Accept-Encoding": "identity"},  # a compressed answer could be of any size
    )


# One for the process: loading the certificates takes longer than most requests.
_ssl_context = cache(httpx2.create_ssl_context)


class GuardedTransport(httpx2.HTTPTransport):
    """Connects to allowed addresses only, and reads at most MOST_BYTES within the read timeout of the request.

    A timeout of the library limits each read alone: a server that sends a byte per second would hold a call for hours.
    """

    def __init__(self, *, connections: int, private_hosts: Collection[str] | None = None) -> None:
        # In place of the base class's pool, which has no parameter for the network backend.
        self._pool = httpcore2.ConnectionPool(
            ssl_context=_ssl_context(),
            max_connections=connections,
            max_keepalive_connections=connections,
            keepalive_expiry=_KEEPALIVE_SECONDS,
            network_backend=_GuardedBackend(private_hosts),
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and read its whole answer."""
        timeout = request.extensions.get("timeout", {}).get("read")
        with _Allowance(seconds=timeout):
            response = super().handle_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                response.close()
                raise httpx2.DecodingError("the answer is compressed, though that was not asked for")
            response.read()
            return response


class _Allowance:
    """What the thread may read until the block ends; the connection and its pool are used by one thread at a time."""

    _current = local()

    def __init__(self, *, seconds: float | None) -> None:
        self._until = float("inf") if seconds is None else time.monotonic() + seconds
        self._bytes = MOST_BYTES

    def __enter__(self) -> None:
        self._current.allowance = self

    def __exit__(self, *_: object) -> None:
        del self._current.allowance

    @classmethod
    def seconds_left(cls, timeout: float | None) -> float | None:
        """Return the timeout of a read. Raises ReadTimeout if no time is left."""
        allowance: _Allowance | None = getattr(cls._current, "allowance", None)
        if allowance is None:
            return timeout
        left = allowance._until - time.monotonic()
        if left <= 0:
            raise httpcore2.ReadTimeout("the answer took too long")
        return left if timeout is None else min(timeout, left)

    @classmethod
    def take(cls, size: int) -> None:
        """Count bytes that were read. Raises ReadError if there are too many."""
        allowance: _Allowance | None = getattr(cls._current, "allowance", None)
        if allowance is None:
            return
        allowance._bytes -= size
        if allowance._bytes < 0:
            raise httpcore2.ReadError(f"the answer exceeds {MOST_BYTES:,} bytes")


class _GuardedBackend(httpcore2.NetworkBackend):
    """Resolves a host, checks its addresses, and connects to the checked one: no second look-up can change it."""

    def __init__(self, private_hosts: Collection[str] | None) -> None:
        self._backend = httpcore2.SyncBackend()
        self._private_hosts = private_hosts

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        private = settings.PRIVATE_HOSTS if self._private_hosts is None else self._private_hosts
        try:
            address = allowed_address(host, port, private_hosts=private, resolve=system_addresses)
        except ForbiddenAddress as error:
            raise httpcore2.ConnectError(str(error)) from error
        except OSError as error:
            raise httpcore2.ConnectError(f"{host}: {error}") from error
        opened = self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
        return _GuardedStream(opened)


class _GuardedStream(httpcore2.NetworkStream):
    """A connection whose reads are limited by the thread's allowance."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = self._stream.read(max_bytes, _Allowance.seconds_left(timeout))
        _Allowance.take(len(data))
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _Allowance.seconds_left(timeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        return _GuardedStream(self._stream.start_tls(ssl_context, server_hostname, timeout))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)
