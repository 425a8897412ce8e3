"""An instance: a data folder, database and ports for real processes of the product."""

import contextlib
import os
import random
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.changed_settings import environment_with
from memplatform import embedded
from memplatform.embedded.programs import owner_of
from tests import migrated

PROJECT = Path(__file__).resolve().parents[1]
SOURCES = os.pathsep.join([str(PROJECT), str(PROJECT / "clients/python/src")])  # of this checkout, in any environment
PATIENCE = 300  # maximum of seconds for any step, on a busy machine
PORTS = range(20_000, 32_000)  # below the range of outgoing connections


@dataclass(frozen=True)
class Instance:
    """A data folder and the processes that use it."""

    folder: Path
    environment: dict[str, str]

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "manage.py", *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py until it ends."""
        return self._finish(self.command(*arguments))

    def new_key(self, slug: str) -> str:
        """Create a project and return a key with the scopes read and write."""
        return self.run_all(["createproject", slug, f"--slug={slug}"], ["createkey", slug]).split()[-1]

    def run_all(self, *commands: list[str]) -> str:
        """Run commands of manage.py one after the other, in one process; return what they printed."""
        done = self._finish([sys.executable, "-m", "tests.commands", *map(shlex.join, commands)])
        assert done.returncode == 0, done.stderr
        return done.stdout

    def stop(self) -> subprocess.CompletedProcess[str]:
        """Stop everything, as `make stop` does."""
        return self.run("stop")

    def _finish(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=PROJECT, env=self.environment, check=False, capture_output=True, text=True, timeout=PATIENCE
        )

    def start(self, *command: str) -> subprocess.Popen[bytes]:
        """Start a process in its own process group, with its output in the folder."""
        with (self.folder / "output").open("ab") as output:
            return subprocess.Popen(
                command, cwd=PROJECT, env=self.environment, stdout=output, stderr=output, start_new_session=True
            )

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")

    def processes(self) -> list[psutil.Process]:
        """Return the processes of this instance except the database, found by their inherited environment."""
        mark = str(self.folder)
        return [process for process in psutil.process_iter() if _data_folder(process) == mark]


def _data_folder(process: psutil.Process) -> str | None:
    try:
        return None if process.name() == "postgres" else process.environ().get("MEMPLATFORM_DATA")
    except psutil.Error:
        return None


@contextmanager
def migrated_instance(**environment: str) -> Iterator[Instance]:
    """Create an instance with a migrated database."""
    with instance_like(migrated.data_folder(make=_migrate), **environment) as made:
        yield made


@contextmanager
def instance_like(kept: Path, **environment: str) -> Iterator[Instance]:
    """Create an instance with a copy of a stopped server's data folder."""
    with new_instance(**environment) as made:
        data_dir = made.folder / "postgresql"
        folder = embedded.prepared_folder(data_dir=data_dir, owner=owner_of(data_dir=data_dir))
        migrated.copy(kept, folder)
        yield made


def _migrate(folder: Path) -> None:
    """Create the data folder of a stopped server with a migrated database."""
    with new_instance() as made:
        made.run_all(["migrate", "--verbosity=0"])
        embedded.down(made.folder / "postgresql")
        migrated.flush_nothing((made.folder / "postgresql").resolve() / "cluster")
        migrated.copy((made.folder / "postgresql").resolve(), folder)


@contextmanager
def new_instance(**environment: str) -> Iterator[Instance]:
    """Create an instance with these settings; afterwards kill its processes and delete its data."""
    folder = Path(tempfile.mkdtemp(prefix="mem instance ", dir="/tmp"))
    own = {"MEMPLATFORM_DATA": str(folder), "DATABASE_URL": "", "REDIS_URL": "", "PYTHONPATH": SOURCES}
    made = Instance(folder, {**os.environ, **own, **environment_with(environment)})
    try:
        yield made
    finally:
        for process in made.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        embedded.remove(folder / "postgresql")
        shutil.rmtree(folder)


def free_port() -> int:
    """Return a free port outside the range of outgoing connections."""
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


def wait_for(done: Callable[[], bool], *, instance: Instance, process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until a condition is true; fail after the timeout, or if the process that should make it true has ended."""
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert process is None or process.poll() is None, f"it ended with {process.returncode}: {instance.output}"
        assert time.monotonic() < deadline, instance.output
        time.sleep(0.1)  # there is no notification
