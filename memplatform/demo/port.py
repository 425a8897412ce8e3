"""Reserve a free port until the web server listens on it."""

import contextlib
import socket

from memplatform.demo.errors import DemoFailed

HOST = "127.0.0.1"
TRIES = 100


def reserve(*, wanted: int) -> socket.socket:
    """Return a socket bound to the wanted port or the next free one. Raises DemoFailed.

    It never listens. The web server shares ports (SO_REUSEPORT), so that two of them could listen on one and each
    answer half of the requests: bound without sharing, the socket proves that nobody else has the port; opened for
    sharing afterwards, it lets our server in and keeps other demos out.
    """
    for port in range(wanted, min(wanted + TRIES, 65_536)):
        with contextlib.suppress(OSError):
            return _bound(port)
    raise DemoFailed(f"no free port from {wanted} on: set WEB_PORT")


def _bound(port: int) -> socket.socket:
    held = socket.socket()
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of an ended server linger
        held.bind((HOST, port))
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    except OSError:
        held.close()
        raise
    return held
