"""Processes and the database are killed while turns are posted: nothing is lost, doubled or reordered."""

import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memplatform.embedded.home import existing_home
from memplatform.embedded.owner import owner_of
from memplatform.embedded.programs import run
from tests.chaos.ledger import assert_each_accepted_once, final_state
from tests.chaos.load import conversation, post
from tests.chaos.town import Town
from tests.soak import SOAK_TURNS

TURNS = SOAK_TURNS or 500
USERS = 25
EVERY_SECONDS = 2.0
KILLS = TURNS // 50  # of processes: on a slow machine they would else be killed as fast as they start
CRASHES = max(3, TURNS // 500)  # of the database: the pools of its clients take seconds to come back from each
PAUSE = 0.2  # between two turns of a poster, so that posting lasts for some kills
ENDED = frozenset({"done", "rejected"})

State = dict[str, Counter[tuple[Any, ...]]]


def conversations() -> list[Any]:
    return [conversation(user=f"person {number}", turns=TURNS // USERS) for number in range(USERS)]


@pytest.fixture(scope="module")
def calm(town: Town) -> State:
    """Return what a run without faults leaves."""
    project, key = town.new_project("calm")
    receipts = post(conversations(), port=town.port, key=key)
    assert town.drained(project), town.house.output[-4_000:]
    with town.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=ENDED)
        return final_state(connection, project)


def test_processes_are_killed_while_turns_are_posted(town: Town, calm: State) -> None:
    chance = random.Random(7)
    assert_survives(town, calm, "kills", lambda: town.kill_one(chance), most=KILLS)


def test_the_database_crashes_while_turns_are_posted(town: Town, calm: State) -> None:
    assert_survives(town, calm, "crashes", lambda: crash_database(town), most=CRASHES)


def assert_survives(town: Town, calm: State, slug: str, harm: Callable[[], object], *, most: int) -> None:
    project, key = town.new_project(slug)
    with town.kept_running(), repeated(harm, most=most) as harmed:
        receipts = post(conversations(), port=town.port, key=key, pause=PAUSE)
        assert len(harmed) >= 2
    with town.kept_running():
        assert town.drained(project), town.house.output[-4_000:]
    with town.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=ENDED)
        state = final_state(connection, project)
    for name, rows in calm.items():
        assert state[name] == rows, name


@contextmanager
def repeated(harm: Callable[[], object], *, most: int) -> Iterator[list[object]]:
    """Do harm again and again beside the block; what was done is listed."""
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


def crash_database(town: Town) -> str:
    """Let the server end as if by a power cut, and start again."""
    home = existing_home(data_dir=town.house.folder / "postgresql")
    assert home is not None
    owner = owner_of(data_dir=home.path)
    how = ["-D", str(home.cluster), "-l", str(home.log), "-m", "immediate", "-w", "restart"]
    run(owner=owner, program="pg_ctl", arguments=how)
    return "database"
