"""An instance with two web servers and two clusters that are started again whenever they end, as a supervisor would."""

import contextlib
import random
import re
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import psutil
import psycopg

from memplatform.demo.client import Client
from memplatform.embedded import socket_directory
from tests.chaos import ledger
from tests.instance import PATIENCE, Instance, free_port, migrated_instance, wait_for

LEASE_SECONDS = 3
PROJECTS_AT_ONCE = 8
LOOK_SECONDS = 10.0
GRACE_SECONDS = 15.0  # a worker that was killed while it waited for a task leaves a lock taken: its cluster can't end
KEY = re.compile(r"^mp_\S+$", re.MULTILINE)
QUICK = {
    "WORK_LEASE_SECONDS": str(LEASE_SECONDS),
    "HEARTBEAT_SECONDS": "0.5",
    "EMBEDDER": "hashing",
    "CLUSTER_WORKERS": "2",
    "WORK_THREADS": "4",
    "WEB_WORKERS": "2",
    "WEB_THREADS": "4",
    "DB_POOL_SIZE": "6",
    "LOG_LEVEL": "ERROR",
    "WEBHOOK_PRIVATE_HOSTS": "127.0.0.1",
}


@dataclass
class ChaosCluster:
    """The instance, its services, and their supervisor."""

    instance: Instance
    port: int
    second_port: int
    commands: dict[str, list[str]]
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)
    keeping: threading.Event = field(default_factory=threading.Event)
    unused: list[tuple[str, str]] = field(default_factory=list)
    projects_made: int = 0

    def start(self) -> None:
        """Start what doesn't run."""
        for name, command in self.commands.items():
            if name not in self.running or self.running[name].poll() is not None:
                self.running[name] = self.instance.start(*command)

    def kill_all(self) -> None:
        """Kill every process but the database at once."""
        self.keeping.clear()
        for process in self.instance.processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        for child in self.running.values():
            child.kill()  # one that is just executing its program has no readable environment and was not found
            child.wait()

    @contextmanager
    def instead(self, **commands: list[str]) -> Iterator[None]:
        """Run these commands in the place of the usual ones, until the block ends."""
        usual = {name: self.commands[name] for name in commands}
        for changed in (commands, usual):
            for name, command in changed.items():
                self.commands[name] = command
                self._end(name)
            self.start()
            if changed is commands:
                yield

    def _end(self, name: str) -> None:
        """End a service as a supervisor does: ask it, and kill it with its children when the grace period is over."""
        service = self.running[name]
        children = psutil.Process(service.pid).children(recursive=True) if service.poll() is None else []
        service.terminate()
        try:
            service.wait(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            for process in [*children, service]:
                with contextlib.suppress(psutil.NoSuchProcess):
                    process.kill()
            service.wait()

    @contextmanager
    def kept_running(self) -> Iterator[None]:
        """Start again what ends, until the block does."""
        self.keeping.set()
        keeper = threading.Thread(target=self._keep, daemon=True)
        keeper.start()
        try:
            yield
        finally:
            self.keeping.clear()
            keeper.join()
            self.start()  # what ended after the keeper's last look

    def _keep(self) -> None:
        looked = time.monotonic()
        while self.keeping.is_set():
            self.start()
            if time.monotonic() - looked > LOOK_SECONDS:
                looked = time.monotonic()
                self.end_if_stuck()
            time.sleep(0.2)  # a child's end is not told to a thread

    def end_if_stuck(self) -> None:
        """Do what a supervisor does about clusters whose workers make no progress."""
        for name in ("east", "west"):
            if self.running[name].poll() is None:
                self.instance.run("check_workers", "--end", str(self.running[name].pid))

    def kill_one(self, chance: random.Random) -> str:
        """Kill one process of the services, any with the same likelihood; return what it was."""
        victim = chance.choice(sorted(self.instance.processes(), key=lambda process: process.pid))
        with contextlib.suppress(psutil.NoSuchProcess):
            told = f"{victim.pid} {victim.name()}"
            victim.kill()
            return told
        return "gone by itself"

    def connect(self) -> psycopg.Connection[Any]:
        folder = socket_directory(self.instance.folder / "postgresql")
        return psycopg.connect(host=str(folder), user="postgres", dbname="memplatform", autocommit=True)

    def new_project(self) -> tuple[str, str]:
        """Return the identifier and a key of a project that no other test uses."""
        if not self.unused:
            self._make_projects()
        return self.unused.pop()

    def _make_projects(self) -> None:
        """Make several projects by one process, which takes half a second to start."""
        slugs = [f"project-{self.projects_made + number}" for number in range(PROJECTS_AT_ONCE)]
        self.projects_made += len(slugs)
        commands = [(["createproject", slug, f"--slug={slug}"], ["createkey", slug]) for slug in slugs]
        keys = KEY.findall(self.instance.run_all(*chain.from_iterable(commands)))
        with self.connect() as connection:
            self.unused += [(ledger.project_id(connection, slug), key) for slug, key in zip(slugs, keys, strict=True)]

    def drained(self, project: str) -> bool:
        """Wait until the project has no open work; return False if it takes longer than PATIENCE."""
        for _ in range(int(PATIENCE / LOOK_SECONDS)):
            if _awaited(lambda: self._open_work(project) == 0, seconds=LOOK_SECONDS):
                return True
            self.end_if_stuck()
            self.start()
        return False

    def _open_work(self, project: str) -> int:
        with self.connect() as connection:
            return ledger.open_work(connection, project)


def _awaited(done: Callable[[], bool], *, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)  # there is no notification
    return True


@contextmanager
def chaos_cluster(**environment: str) -> Iterator[ChaosCluster]:
    """Make a cluster with a migrated database; its services run when the block begins."""
    port, second = free_port(), free_port()
    with migrated_instance(**QUICK, WEB_PORT=str(port), **environment) as instance:
        worker = instance.command("qcluster")
        web = instance.command("serve")
        other = ["env", f"WEB_PORT={second}", "WEB_WORKERS=1", *web]
        commands = {"web": web, "other": other, "east": worker, "west": worker}
        cluster = ChaosCluster(instance, port, second, commands)
        cluster.start()
        caller = Client(address=f"http://127.0.0.1:{port}")
        wait_for(lambda: caller.answers("/healthz"), instance=instance, process=cluster.running["web"])
        yield cluster
        cluster.kill_all()
