"""A reserved port is ours until the web server has it."""

import socket

import pytest

from memplatform.demo import services
from memplatform.demo.client import DemoFailed
from memplatform.demo.services import HOST, reserve


def number(held: socket.socket) -> int:
    return int(held.getsockname()[1])


def listening(at: int, *, shared: bool = False) -> socket.socket:
    other = socket.socket()
    if shared:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    other.bind((HOST, at))
    other.listen()
    return other


@pytest.mark.parametrize("shared", [False, True])
def test_a_taken_port_is_passed_over(shared: bool) -> None:
    with listening(0, shared=shared) as other, reserve(wanted=number(other)) as held:
        assert number(held) > number(other)


def test_two_demos_reserve_two_ports() -> None:
    with reserve(wanted=20_000) as one, reserve(wanted=number(one)) as another:
        assert number(one) != number(another)


def test_a_server_that_shares_ports_may_listen_on_a_reserved_one() -> None:
    with (
        reserve(wanted=20_000) as held,
        listening(number(held), shared=True) as server,
        socket.create_connection((HOST, number(held)), timeout=5),
    ):
        server.settimeout(5)
        accepted, _ = server.accept()
        accepted.close()


def test_the_lack_of_a_free_port_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(services, "TRIES", 1)
    with listening(0) as other, pytest.raises(DemoFailed, match="WEB_PORT"):
        reserve(wanted=number(other))
