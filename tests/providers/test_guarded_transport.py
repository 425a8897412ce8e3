"""An answer of a model server is limited in size and in the time that all of it takes."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import httpx2
import pytest

from apps.providers import outbound
from apps.providers.outbound import guarded_client

Send = Callable[[socket.socket, threading.Event], None]


@contextmanager
def server(send: Send) -> Iterator[str]:
    """Serve one connection: read a request, then send what a test wants."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                connection, _ = listening.accept()
                with connection:
                    connection.recv(65_536)
                    send(connection, done)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        done.set()
    thread.join()


def get(url: str, seconds: float = 5.0) -> httpx2.Response:
    with guarded_client(timeout=httpx2.Timeout(seconds), connections=1) as client:
        return client.get(url)


def drip(text: bytes) -> Send:
    """Send a byte every few milliseconds, without an end."""

    def send(connection: socket.socket, done: threading.Event) -> None:
        connection.sendall(text)
        while not done.wait(0.02):
            connection.sendall(b"x")

    return send


def once(text: bytes) -> Send:
    return lambda connection, _: connection.sendall(text)


def test_an_answer_is_read() -> None:
    with server(once(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")) as url:
        assert get(url).json() == {}


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"HTTP/1.1 200 OK\r\nX-A: "])
def test_an_answer_that_drips_is_given_up(head: bytes) -> None:
    with server(drip(head)) as url, pytest.raises(httpx2.ReadTimeout):
        get(url, seconds=0.3)


def test_an_answer_that_is_too_large_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outbound, "MOST_BYTES", 10_000)
    text = b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1_000_000
    with server(once(text)) as url, pytest.raises(httpx2.ReadError, match="exceeds"):
        get(url)


def test_a_compressed_answer_is_refused() -> None:
    text = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 0\r\n\r\n"
    with server(once(text)) as url, pytest.raises(httpx2.DecodingError):
        get(url)


def test_a_redirect_is_not_followed() -> None:
    text = b"HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    with server(once(text)) as url:
        assert get(url).status_code == 302


def test_a_forbidden_address_is_not_reached() -> None:
    with pytest.raises(httpx2.ConnectError, match="link-local"):
        get("http://169.254.169.254/latest/meta-data/")
