"""Where and when a cluster believes itself to be makes no difference."""

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.ledger import assert_each_accepted_once, final_state
from tests.chaos.load import Receipt, conversation, post
from tests.chaos.town import LEASE_SECONDS, Town
from tests.house import wait_for

CONVERSATIONS = [conversation(user=f"person {number}", turns=10) for number in range(8)]
ENDED = frozenset({"done", "rejected"})
State = dict[str, Counter[tuple[Any, ...]]]

FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
NAME = "elsewhere"
ELSEWHERE = ["unshare", "--uts", "sh", "-c", f'hostname {NAME} && exec "$@"', "sh"]  # the words after it are run
MOST_SECONDS = LEASE_SECONDS + 60  # from the first worker's return until nothing is owed


def may_rename_the_host() -> bool:
    """Tell whether a process of ours may live under another host name (in a namespace of its own)."""
    try:
        return subprocess.run([*ELSEWHERE, "true"], check=False, capture_output=True, timeout=10).returncode == 0
    except OSError:
        return False


@pytest.fixture(scope="module")
def calm(town: Town) -> State:
    project, key = town.new_project("right")
    return end_state(town, project, post(CONVERSATIONS, port=town.port, key=key))


def end_state(town: Town, project: str, receipts: Sequence[Receipt]) -> State:
    assert town.drained(project), town.house.output[-4_000:]
    with town.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=ENDED)
        return final_state(connection, project)


def first_sign_of_life(town: Town) -> datetime:
    """Wait for a worker under the other host name; return when it first told that it lives, by the database's clock."""
    seen: list[datetime] = []

    def look() -> bool:
        with town.connect() as connection:
            rows = connection.execute("select seen_at from outbox_workerheartbeat where host = %s", [NAME])
            seen.extend(at for (at,) in rows)
        return bool(seen)

    wait_for(look, house=town.house)
    return min(seen)


def last_finished_at(town: Town, project: str) -> datetime:
    with town.connect() as connection:
        rows = connection.execute("select max(finished_at) from outbox_outboxrow where project_id = %s", [project])
        return next(at for (at,) in rows)


@pytest.mark.skipif(FAKETIME is None, reason="needs libfaketime (Debian: faketime)")
@pytest.mark.parametrize("off", ["+10m", "-10m"])
def test_the_clock_of_one_cluster_is_off(town: Town, calm: State, off: str) -> None:
    wrong = ["env", f"LD_PRELOAD={FAKETIME}", f"FAKETIME={off}", *town.commands["east"]]
    project, key = town.new_project("ahead" if off.startswith("+") else "behind")
    with town.instead(east=wrong):
        receipts = post(CONVERSATIONS, port=town.port, key=key)
        assert end_state(town, project, receipts) == calm


@pytest.mark.skipif(os.name != "posix" or not may_rename_the_host(), reason="needs unshare --uts and hostname")
def test_all_are_killed_and_go_on_under_another_host_name(town: Town, calm: State) -> None:
    project, key = town.new_project("elsewhere")
    receipts = post(CONVERSATIONS, port=town.port, key=key)
    town.kill_all()
    with town.connect() as connection:
        connection.execute("delete from django_q_ormq")  # what was to wake them is lost as well
    usual = dict(town.commands)
    town.commands.update({name: [*ELSEWHERE, *command] for name, command in usual.items()})
    try:
        town.start()
        back_at = first_sign_of_life(town)
        assert end_state(town, project, receipts) == calm
        assert (last_finished_at(town, project) - back_at).total_seconds() < MOST_SECONDS
    finally:
        town.kill_all()
        town.commands.update(usual)
        town.start()
