"""Processes and the database are killed while turns are posted: nothing is lost, duplicated or reordered."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest

from tests.chaos.chaos_cluster import ChaosCluster
from tests.chaos.ledger import assert_each_accepted_once, final_state
from tests.chaos.load import conversation, post
from tests.instance import wait_for
from tests.memplatform.embedded.servers import is_running, postmaster
from tests.soak import SOAK_TURNS

TURNS = SOAK_TURNS or 192
USERS = 16
EVERY_SECONDS = 2.0
FAULTS = max(4, TURNS // 50)  # more would kill processes as fast as they start on a slow machine
CRASH_EVERY = 2 if TURNS < 1_000 else 10  # of the faults; the pools of the database's clients take seconds to come back
PAUSE = 0.2  # between two turns of a poster, so that posting lasts for some kills
ENDED = frozenset({"done", "rejected"})

State = dict[str, Counter[tuple[Any, ...]]]


def conversations() -> list[Any]:
    return [conversation(user=f"person {number}", turns=TURNS // USERS) for number in range(USERS)]


@pytest.fixture(scope="module")
def baseline(cluster: ChaosCluster) -> State:
    """Return the state after a run without faults."""
    project, key = cluster.new_project()
    receipts = post(conversations(), port=cluster.port, key=key)
    assert cluster.drained(project), cluster.instance.output[-4_000:]
    with cluster.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=ENDED)
        return final_state(connection, project)


def test_processes_and_the_database_are_killed_while_turns_are_posted(cluster: ChaosCluster, baseline: State) -> None:
    chance, numbers = random.Random(7), count(1)

    def harm() -> str:
        return cluster.kill_one(chance) if next(numbers) % CRASH_EVERY else crash_database(cluster)

    project, key = cluster.new_project()
    with cluster.kept_running(), repeated(harm, most=FAULTS) as harmed:
        receipts = post(conversations(), port=cluster.port, second_port=cluster.second_port, key=key, pause=PAUSE)
        assert len(harmed) >= 2, harmed  # one of each kind
    with cluster.kept_running():
        assert cluster.drained(project), cluster.instance.output[-4_000:]
    with cluster.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=ENDED)
        state = final_state(connection, project)
    for name, rows in baseline.items():
        assert state[name] == rows, name


@contextmanager
def repeated(harm: Callable[[], object], *, most: int) -> Iterator[list[object]]:
    """Inject faults repeatedly while the block runs; return the list of them."""
    done: list[object] = []
    over = threading.Event()

    def go_on() -> None:
        while len(done) < most and not over.wait(EVERY_SECONDS):
            done.append(harm())

    thread = threading.Thread(target=go_on, daemon=True)
    thread.start()
    try:
        yield done
    finally:
        over.set()
        thread.join()


def crash_database(cluster: ChaosCluster) -> str:
    """Kill the server; its users start it again."""
    folder = cluster.instance.folder / "postgresql"
    postmaster(folder.resolve()).kill()
    wait_for(lambda: is_running(folder), instance=cluster.instance)
    return "database"
