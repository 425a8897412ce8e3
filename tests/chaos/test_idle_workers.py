"""Workers that are killed while they wait for a task leave a lock taken: their cluster is restarted."""

import contextlib

import psutil

from tests.chaos.chaos_cluster import ChaosCluster
from tests.chaos.ledger import assert_each_accepted_once
from tests.chaos.load import conversation, post
from tests.instance import wait_for

CONVERSATIONS = [conversation(user=f"person {number}", turns=10) for number in range(8)]
WORKERS_AND_HELPERS = 5  # three workers, django-q2's monitor and its pusher


def under_sentinels(cluster: ChaosCluster) -> list[psutil.Process]:
    """Return the processes that the sentinels of both clusters have started."""
    mains = [psutil.Process(cluster.running[name].pid) for name in ("east", "west")]
    sentinels = [sentinel for main in mains for sentinel in main.children()]
    return [process for sentinel in sentinels for process in sentinel.children()]


def are_ready(cluster: ChaosCluster) -> bool:
    """Return True if both clusters have their workers; False as well if one ends just now and is started again."""
    with contextlib.suppress(psutil.NoSuchProcess):
        return len(under_sentinels(cluster)) == 2 * WORKERS_AND_HELPERS
    return False


def test_work_goes_on_after_all_idle_workers_were_killed(cluster: ChaosCluster) -> None:
    cluster.kill_all()
    with cluster.connect() as connection:
        connection.execute("delete from django_q_ormq")  # so that the workers have nothing to do
    cluster.start()
    project, key = cluster.new_project()
    wait_for(lambda: are_ready(cluster), instance=cluster.instance)
    for process in under_sentinels(cluster):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    receipts = post(CONVERSATIONS, port=cluster.port, key=key)
    assert cluster.drained(project), cluster.instance.output[-4_000:]
    with cluster.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=frozenset({"done", "rejected"}))
