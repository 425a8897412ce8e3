"""A temporary service for a benchmark: database, web server and cluster."""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.caller import Caller
from benchmarks.changed_settings import environment_with
from memplatform import embedded

ROOT = Path(__file__).resolve().parent.parent
HOST = "127.0.0.1"
START_SECONDS = 60.0
END_SECONDS = 20.0


@dataclass(slots=True)
class Service:
    """A running service; `key` has every scope."""

    folder: Path
    port: int
    environment: Mapping[str, str]
    key: str = ""
    children: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def database(self) -> embedded.ConnectionParams:
        """Return the connection parameters of its database."""
        return embedded.up(self.folder / "postgresql")

    def manage(self, *words: str) -> str:
        """Run a management command in the service and return its output."""
        command = [sys.executable, "manage.py", *words]
        return subprocess.run(
            command, cwd=ROOT, env=dict(self.environment), check=True, capture_output=True, text=True
        ).stdout

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a process that is ended with the service, with its output in the service's folder."""
        with (self.folder / "output.log").open("ab") as output:
            child = subprocess.Popen(
                command,
                cwd=ROOT,
                env=dict(self.environment),
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.children.append(child)
        return child

    def start_cluster(self) -> None:
        """Start a cluster of workers."""
        self.start(sys.executable, "manage.py", "qcluster")

    def caller(self) -> Caller:
        """Return a caller with its own connection."""
        return Caller(address=(HOST, self.port), key=self.key)

    def cpu_seconds(self) -> float:
        """Return the CPU time of application and database in seconds, including that of ended children."""
        postmaster = int(
            (self.folder / "postgresql").resolve().joinpath("cluster/postmaster.pid").read_text().split()[0]
        )
        roots = [psutil.Process(pid) for pid in (*(child.pid for child in self.children), postmaster)]
        return sum(_cpu(process) for root in roots for process in (root, *root.children(recursive=True)))


def _cpu(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system + times.children_user + times.children_system)


@contextmanager
def running_service(*, cluster: bool, **settings: str) -> Iterator[Service]:
    """Run a service in a temporary folder, with additional settings, while the block runs."""
    folder = Path(tempfile.mkdtemp(prefix="memplatform-bench-"))
    folder.chmod(0o755)  # the account of the database has to access a folder inside
    port = _free_port()
    environment = (
        os.environ
        | environment_with(settings)
        | {"MEMPLATFORM_DATA": str(folder), "WEB_HOST": HOST, "WEB_PORT": str(port), "PYTHONUNBUFFERED": "1"}
    )
    service = Service(folder=folder, port=port, environment=environment)
    try:
        service.manage("migrate", "--verbosity", "0")
        service.manage("createproject", "Bench", "--slug", "bench")
        service.key = service.manage("createkey", "bench", "--name", "bench", "--scope", "admin").split()[-1]
        service.start(sys.executable, "manage.py", "serve")
        if cluster:
            service.start_cluster()
        _await_answer(service)
        yield service
    finally:
        _end(service)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _await_answer(service: Service) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        try:
            if service.caller().get("/readyz")[0] == 200:
                return
        except OSError:
            time.sleep(0.1)  # the server is not listening yet
    raise TimeoutError(f"the service did not start: {(service.folder / 'output.log').read_text()[-2_000:]}")


def _end(service: Service) -> None:
    for child in service.children:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
    for child in service.children:
        try:
            child.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    embedded.remove(service.folder / "postgresql")
    shutil.rmtree(service.folder, ignore_errors=True)
