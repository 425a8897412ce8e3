"""Outbound connections reach public addresses, and private ones that the settings name."""

import pytest

from apps.providers.outbound import ForbiddenAddress, allowed_address, system_addresses

NAMES = {
    "api.example.com": ["93.184.216.34"],
    "rebound.example.com": ["93.184.216.34", "127.0.0.1"],
    "internal.example.com": ["10.0.0.5"],
    "metadata.example.com": ["169.254.169.254"],
    "mapped.example.com": ["::ffff:10.0.0.5"],
    "localhost": ["::1", "127.0.0.1"],
    "ollama": ["172.18.0.3"],
}
PRIVATE = ["localhost", "127.0.0.1", "[::1]", "ollama", "metadata.example.com"]


def resolve(host: str, port: int) -> list[str]:
    return NAMES[host]


def address_of(host: str) -> str:
    return allowed_address(host, 443, private_hosts=PRIVATE, resolve=resolve)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("api.example.com", "93.184.216.34"),
        ("93.184.216.34", "93.184.216.34"),
        ("2606:2800:220:1:248:1893:25c8:1946", "2606:2800:220:1:248:1893:25c8:1946"),
        ("localhost", "::1"),
        ("127.0.0.1", "127.0.0.1"),
        ("::1", "::1"),
        ("OLLAMA", "172.18.0.3"),
    ],
)
def test_addresses_that_are_reached(host: str, address: str) -> None:
    assert address_of(host) == address


@pytest.mark.parametrize(
    "host",
    [
        *["rebound.example.com", "internal.example.com", "metadata.example.com", "mapped.example.com"],
        *["10.0.0.5", "192.168.1.1", "172.16.0.1", "100.64.0.1", "127.0.0.2", "fd00::1", "fec0::1", "240.0.0.1"],
        *["169.254.169.254", "fe80::1", "0.0.0.0", "::", "224.0.0.1", "ff02::1"],
        *["::ffff:127.0.0.1", "::ffff:93.184.216.34", "2002:7f00:1::", "64:ff9b:1::1"],
        *["2130706433", "0x7f000001", "0177.0.0.1", "0x7f.1", "127.1", "127.0.0.1."],
    ],
)
def test_addresses_that_are_refused(host: str) -> None:
    with pytest.raises(ForbiddenAddress) as refused:
        address_of(host)
    assert not any(address in str(refused.value) for address in NAMES.get(host, ()))


@pytest.mark.parametrize("host", ["a..example", ".", f"{'a' * 64}.example"])
def test_what_is_no_name_is_refused(host: str) -> None:
    with pytest.raises(ForbiddenAddress, match="no valid name"):
        allowed_address(host, 443, private_hosts=PRIVATE, resolve=system_addresses)
