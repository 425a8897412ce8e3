"""Where and when a cluster believes itself to be makes no difference."""

import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from tests.chaos.chaos_cluster import LEASE_SECONDS, ChaosCluster
from tests.chaos.ledger import assert_each_accepted_once, final_state
from tests.chaos.load import Receipt, conversation, post
from tests.instance import wait_for

CONVERSATIONS = [conversation(user=f"person {number}", turns=10) for number in range(8)]
ENDED = frozenset({"done", "rejected"})
State = dict[str, Counter[tuple[Any, ...]]]

FAKETIME = next(iter(sorted(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"))), None)
NAME = "elsewhere"
ELSEWHERE = ["unshare", "--uts", "sh", "-c", f'hostname {NAME} && exec "$@"', "sh"]  # the words after it are run
MOST_SECONDS = LEASE_SECONDS + 240  # from the first worker's return until no work is open


def may_rename_the_host() -> bool:
    """Return True if processes can be started under another host name (in a namespace)."""
    try:
        return subprocess.run([*ELSEWHERE, "true"], check=False, capture_output=True, timeout=10).returncode == 0
    except OSError:
        return False


@pytest.fixture(scope="module")
def baseline(cluster: ChaosCluster) -> State:
    project, key = cluster.new_project()
    return end_state(cluster, project, post(CONVERSATIONS, port=cluster.port, key=key))


def end_state(cluster: ChaosCluster, project: str, receipts: Sequence[Receipt]) -> State:
    assert cluster.drained(project), cluster.instance.output[-4_000:]
    with cluster.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=ENDED)
        return final_state(connection, project)


def first_sign_of_life(cluster: ChaosCluster) -> datetime:
    """Wait for a worker under the other host name; return the database's time of its first heartbeat."""
    seen: list[datetime] = []

    def look() -> bool:
        with cluster.connect() as connection:
            rows = connection.execute("select seen_at from outbox_workerheartbeat where host = %s", [NAME])
            seen.extend(at for (at,) in rows)
        return bool(seen)

    wait_for(look, instance=cluster.instance)
    return min(seen)


def last_finished_at(cluster: ChaosCluster, project: str) -> datetime:
    with cluster.connect() as connection:
        rows = connection.execute("select max(finished_at) from outbox_outboxrow where project_id = %s", [project])
        return next(at for (at,) in rows)


@pytest.mark.skipif(FAKETIME is None, reason="needs libfaketime (Debian: faketime)")
@pytest.mark.parametrize("off", ["+10m", pytest.param("-10m", marks=pytest.mark.soak)])
def test_the_clock_of_one_cluster_is_off(cluster: ChaosCluster, baseline: State, off: str) -> None:
    wrong = ["env", f"LD_PRELOAD={FAKETIME}", f"FAKETIME={off}", *cluster.commands["east"]]
    project, key = cluster.new_project()
    with cluster.instead(east=wrong):
        receipts = post(CONVERSATIONS, port=cluster.port, key=key)
        assert end_state(cluster, project, receipts) == baseline


@pytest.mark.soak
@pytest.mark.skipif(os.name != "posix" or not may_rename_the_host(), reason="needs unshare --uts and hostname")
def test_all_are_killed_and_go_on_under_another_host_name(cluster: ChaosCluster, baseline: State) -> None:
    project, key = cluster.new_project()
    receipts = post(CONVERSATIONS, port=cluster.port, key=key)
    cluster.kill_all()
    with cluster.connect() as connection:
        connection.execute("delete from django_q_ormq")  # what was to wake them is lost as well
    usual = dict(cluster.commands)
    cluster.commands.update({name: [*ELSEWHERE, *command] for name, command in usual.items()})
    try:
        cluster.start()
        back_at = first_sign_of_life(cluster)
        assert end_state(cluster, project, receipts) == baseline
        assert (last_finished_at(cluster, project) - back_at).total_seconds() < MOST_SECONDS
    finally:
        cluster.kill_all()
        cluster.commands.update(usual)
        cluster.start()
