"""Requests whose bodies never arrive don't block others, and are aborted."""

import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.instance import Instance, free_port, migrated_instance, wait_for

SOCKETS = 40  # more than the threads of all processes


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    port = free_port()
    with migrated_instance(
        WEB_PORT=str(port), WEB_WORKERS="1", BODY_SECONDS="3", ALLOWED_HOSTS="127.0.0.1"
    ) as instance:
        server = instance.start(*instance.command("serve"))
        wait_for(lambda: answers(port, instance), instance=instance, process=server)
        yield "127.0.0.1", port


def answers(port: int, instance: Instance) -> bool:
    try:
        return get("127.0.0.1", port, "/healthz") == 200
    except OSError:
        return False


def get(host: str, port: int, path: str) -> int:
    connection = http.client.HTTPConnection(host, port, timeout=60)
    connection.request("GET", path)
    return connection.getresponse().status


def open_request(address: tuple[str, int], path: str) -> socket.socket:
    opened = socket.create_connection(address, timeout=60)
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    opened.sendall(head.encode() + b'{"us')
    return opened


@pytest.mark.parametrize("path", [pytest.param("/console/login/", marks=pytest.mark.soak), "/v1/turns"])
def test_half_open_requests_are_given_up_while_others_are_served(address: tuple[str, int], path: str) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(open_request(address, path)) for _ in range(SOCKETS)]
        assert get(*address, "/healthz") == 200
        assert get(*address, "/console/login/") == 200
        first_lines = {each.makefile("rb").readline() for each in opened}  # waits until the server gives them up
    assert first_lines == {b"HTTP/1.1 408 Request Timeout\r\n"}
    assert get(*address, "/healthz") == 200
