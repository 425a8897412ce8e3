"""The web server and a cluster, as child processes of the demo: their port, and how they are stopped."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from memplatform import processes
from memplatform.demo.client import Client, DemoFailed
from memplatform.settings import DATA_DIR

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Interruption:
    """Raises KeyboardInterrupt on a signal, and remembers it.

    An exception raised while Python runs a finaliser is lost, so waiting code calls `check` again.
    """

    asked: bool = False

    def listen(self) -> None:
        """Install the signal handlers."""
        for number in SIGNALS:
            signal.signal(number, self._take)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal was received."""
        if self.asked:
            raise KeyboardInterrupt

    def _take(self, *_: object) -> None:
        self.asked = True
        raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignore further signals, so that stopping child processes is not interrupted."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


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


WEB = "demo-web"
CLUSTER = "demo-cluster"
START_SECONDS = 180.0
POLL = 0.2  # seconds between two checks
LAST_LINES = 8  # of the log of a failed process


@dataclass(frozen=True, slots=True)
class Services:
    """A running server and cluster."""

    address: str
    children: dict[str, subprocess.Popen[bytes]]
    interruption: Interruption

    def check(self) -> None:
        """Raise DemoFailed if a process has exited, KeyboardInterrupt if a stop was requested."""
        self.interruption.check()
        for name, child in self.children.items():
            if child.poll() is not None:
                lines = processes.log_of(name).read_text(errors="replace").strip().splitlines()
                ended = " / ".join(lines[-LAST_LINES:]) or "the log is empty"
                raise DemoFailed(f"{name} exited with status {child.returncode}: {ended}")

    def wait_until(self, done: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Wait until `done()` is true. Raises DemoFailed after `seconds` or if a process has exited."""
        deadline = time.monotonic() + seconds
        self.check()
        while not done():
            if time.monotonic() > deadline:
                raise DemoFailed(f"{what}: not within {seconds:.0f} seconds")
            time.sleep(POLL)  # HTTP has no notification to wait for
            self.check()


@contextmanager
def running_services(*, wanted_port: int, interruption: Interruption) -> Iterator[Services]:
    """Start both and wait for the server; stop both with their child processes on exit.

    Use the wanted port or the next free one. Processes left behind by a killed demo are stopped first.
    """
    interruption.check()
    end_services()
    children: dict[str, subprocess.Popen[bytes]] = {}
    try:
        with reserve(wanted=wanted_port) as held:
            port = held.getsockname()[1]
            services = Services(address=f"http://{HOST}:{port}", children=children, interruption=interruption)
            environment = _environment(port)
            for name, argument in ((WEB, "serve"), (CLUSTER, "qcluster")):
                command = [sys.executable, "-m", "memplatform", argument]
                children[name] = processes.start(name=name, command=command, environment=environment)
            client = Client(services.address)
            services.wait_until(lambda: client.answers("/readyz"), seconds=START_SECONDS, what="starting the server")
        yield services
    finally:
        ignore_signals()
        end_services()
        for child in children.values():
            child.wait()


def end_services() -> None:
    """Stop the recorded server and cluster, if they are running."""
    for record in processes.recorded():
        if record.name in (WEB, CLUSTER):
            processes.end(record)


def _environment(port: int) -> dict[str, str]:
    """Return the environment for a server on loopback, overriding production settings in .env."""
    local = {"WEB_HOST": HOST, "WEB_PORT": str(port), "ALLOWED_HOSTS": f"{HOST},localhost", "HTTPS": "false"}
    local["MEMPLATFORM_DATA"] = str(DATA_DIR)
    # One visitor needs no more than one process of each kind, and few threads and connections.
    few = {"WEB_WORKERS": "1", "WEB_THREADS": "4", "CLUSTER_WORKERS": "1"}
    few |= {"DB_POOL_SIZE": "8", "MALLOC_ARENA_MAX": "2"}  # the latter of glibc: free memory is shared by threads
    return few | os.environ | local | {"WEB_STOP_SECONDS": "5", "PYTHONUNBUFFERED": "1"}
