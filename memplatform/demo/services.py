"""The web server with its workers, as a child process of the demo: its port, and how it is stopped."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

from memplatform import processes
from memplatform.demo.client import Client, DemoFailed
from memplatform.settings import DATA_DIR

HOST = "127.0.0.1"
TRIES = 100


def reserve(*, wanted: int) -> socket.socket:
    """Return a socket bound to the wanted port or the next free one. Raises DemoFailed.

    It never listens. The web server shares ports (SO_REUSEPORT), so that two of them could listen on one and each
    answer half of the requests: bound without sharing, the socket proves that nobody else has the port; opened for
    sharing afterwards, it lets our server in and keeps other demos out.
    """
    for port in range(wanted, min(wanted + TRIES, 65_536)):
        held = socket.socket()
        try:
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # connections of an ended server linger
            held.bind((HOST, port))
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 0)
            held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            held.set_inheritable(True)  # the process goes on as another program (memplatform/demo/visitor.py)
            return held
        except OSError:
            held.close()
    raise DemoFailed(f"no free port from {wanted} on: set WEB_PORT")


NAME = "demo-server"
START_SECONDS = 180.0
POLL = 0.2  # seconds between two checks
LAST_LINES = 8  # of the log of a failed process
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Services:
    """A running server with its workers."""

    address: str
    process: psutil.Process

    def check(self) -> None:
        """Raise DemoFailed if the process has exited."""
        try:
            status = self.process.wait(timeout=0)
        except psutil.TimeoutExpired:
            return
        lines = processes.log_of(NAME).read_text(errors="replace").strip().splitlines()
        ended = " / ".join(lines[-LAST_LINES:]) or "the log is empty"
        raise DemoFailed(f"{NAME} exited with status {status}: {ended}")

    def wait_until(self, done: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Wait until `done()` is true. Raises DemoFailed after `seconds` or if the process has exited."""
        deadline = time.monotonic() + seconds
        self.check()
        while not done():
            if time.monotonic() > deadline:
                raise DemoFailed(f"{what}: not within {seconds:.0f} seconds")
            time.sleep(POLL)  # HTTP has no notification to wait for
            self.check()


@contextmanager
def running_services(*, wanted_port: int) -> Iterator[Services]:
    """Start a server with workers and wait for it; stop it with its child processes on exit.

    Use the wanted port or the next free one. Processes left behind by a killed demo are stopped first.
    """
    end_services()
    try:
        with reserve(wanted=wanted_port) as held:
            port = held.getsockname()[1]
            # On loopback, overriding production settings in .env.
            local = {"WEB_HOST": HOST, "WEB_PORT": str(port), "ALLOWED_HOSTS": f"{HOST},localhost", "HTTPS": "false"}
            local["MEMPLATFORM_DATA"] = str(DATA_DIR)
            # One visitor needs few threads and connections. The others are of glibc: threads share what is free, and
            # the system gets back what is more than this.
            few = {"WEB_THREADS": "4", "DB_POOL_SIZE": "8"}
            few |= {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": str(128 * 1024)}
            environment = few | os.environ | local | {"WEB_STOP_SECONDS": "5", "PYTHONUNBUFFERED": "1"}
            command = [sys.executable, "-m", "memplatform", "serve", "--with-workers"]
            process = processes.start(name=NAME, command=command, environment=environment)
            services = Services(f"http://{HOST}:{port}", psutil.Process(process.pid))
            client = Client(services.address)
            services.wait_until(lambda: client.answers("/readyz"), seconds=START_SECONDS, what="starting the server")
        yield services
    finally:
        end_services(uninterrupted=True)


def end_services(*, uninterrupted: bool = False) -> None:
    """Stop the recorded server, if it is running."""
    if uninterrupted:
        for number in SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    for record in processes.recorded():
        if record.name == NAME:
            processes.end(record)
