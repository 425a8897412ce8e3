"""A cluster stops on request during a slow model call, and leaves its work to the next one.

The tests share an instance: each leaves the work as it found it, and the last one lets the model answer.
"""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from benchmarks.model_server import ModelServer, running
from memplatform import embedded
from memplatform.embedded import socket_directory
from tests.chaos.chaos_cluster import QUICK
from tests.instance import PATIENCE, Instance, instance_like, migrated_instance, wait_for

NEVER_MS = 3_600_000.0  # longer than any test waits
USERS = 6
MODEL = {"MODEL": "anthropic:claude-haiku-4-5", "ANTHROPIC_API_KEY": "none"}
LEASES = "select count(*) from outbox_userlease where lease_token is not null"
WORK = "select state, count(*)::int, max(attempts) from outbox_outboxrow group by 1"
# The work that a cluster was stopped at, and what follows from it; questions wait until there are more memories.
LEFT = "select distinct state from outbox_outboxrow where kind <> 'ask_questions'"


@dataclass
class Slow:
    """An instance whose model does not answer for an hour, and turns that wait for it."""

    instance: Instance
    model: ModelServer

    def asks(self, sql: Any) -> list[tuple[Any, ...]]:
        folder = socket_directory(self.instance.folder / "postgresql")
        with psycopg.connect(host=str(folder), user="postgres", dbname="memplatform") as connection:
            return connection.execute(sql).fetchall()

    def cluster_at_work(self) -> subprocess.Popen[bytes]:
        """Start a cluster and return when each end user's turn is with the model."""
        asked = len(self.model.asked)
        cluster = self.instance.start(*self.instance.command("qcluster"))
        wait_for(lambda: len(self.model.asked) >= asked + USERS, instance=self.instance, process=cluster)
        return cluster


@pytest.fixture(scope="module")
def owing() -> Iterator[Path]:
    """A data folder in which each end user's turn waits for a model; its server is stopped."""
    with migrated_instance(**QUICK, **MODEL) as instance:
        said = [
            {"user_id": f"u{number}", "session_id": "s", "role": "user", "content": "I live in Porto now."}
            for number in range(USERS)
        ]
        (instance.folder / "said.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in said))
        ingest = ["ingest", str(instance.folder / "said.jsonl"), "--format=jsonl", "--project=cluster"]
        instance.run_all(["createproject", "ChaosCluster", "--slug=cluster"], ingest)
        embedded.down(instance.folder / "postgresql")
        yield (instance.folder / "postgresql").resolve()


@pytest.fixture(scope="module")
def slow(owing: Path) -> Iterator[Slow]:
    with running(ModelServer(delay_ms=NEVER_MS)) as model:
        named = MODEL | {"ANTHROPIC_BASE_URL": model.url, "MODEL_TIMEOUT_SECONDS": "3600"}
        with instance_like(owing, **QUICK | named | {"WORK_LEASE_SECONDS": "600"}) as instance:
            embedded.up(instance.folder / "postgresql")
            yield Slow(instance, model)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_so_does_one_whose_whole_group_is_asked(slow: Slow, number: signal.Signals) -> None:
    """As supervisors do, and terminals when somebody presses Ctrl-C."""
    cluster = slow.cluster_at_work()
    os.killpg(cluster.pid, number)
    assert cluster.wait(timeout=PATIENCE) == 0
    wait_for(lambda: slow.instance.processes() == [], instance=slow.instance)
    assert slow.asks(LEASES) == [(0,)], slow.instance.output
    assert slow.asks(WORK) == [("pending", USERS, 0)]


@pytest.mark.soak
def test_one_that_is_asked_while_it_starts_ends_too(slow: Slow) -> None:
    cluster = slow.instance.start(*slow.instance.command("qcluster"))
    wait_for(lambda: has_grandchildren(cluster.pid), instance=slow.instance, process=cluster)
    os.killpg(cluster.pid, signal.SIGTERM)
    assert cluster.wait(timeout=PATIENCE) == 0
    wait_for(lambda: slow.instance.processes() == [], instance=slow.instance)
    assert slow.asks(LEASES) == [(0,)], slow.instance.output


def test_a_cluster_ends_without_the_models_answer_and_gives_its_leases_back(slow: Slow) -> None:
    cluster = slow.cluster_at_work()
    assert slow.asks(LEASES) == [(USERS,)]
    cluster.send_signal(signal.SIGTERM)
    assert cluster.wait(timeout=PATIENCE) == 0
    assert slow.instance.processes() == []
    assert slow.asks(LEASES) == [(0,)], slow.instance.output
    assert slow.asks(WORK) == [("pending", USERS, 0)]  # the next worker does it; to be stopped costs no attempt

    slow.model.delay_ms = 0.0
    successor = slow.instance.start(*slow.instance.command("qcluster"))
    wait_for(lambda: slow.asks(LEFT) == [("done",)], instance=slow.instance, process=successor)


def has_grandchildren(pid: int) -> bool:
    """Return True if a cluster's sentinel has begun to keep something."""
    try:
        return any(child.children() for child in psutil.Process(pid).children())
    except psutil.NoSuchProcess:
        return False
