"""Workers that are killed while they wait for a task leave a lock behind: their cluster begins anew."""

import contextlib

import psutil

from tests.chaos.ledger import assert_each_accepted_once
from tests.chaos.load import conversation, post
from tests.chaos.town import Town
from tests.house import wait_for

CONVERSATIONS = [conversation(user=f"person {number}", turns=10) for number in range(8)]
WORKERS_AND_HELPERS = 4  # two workers, django-q2's monitor and its pusher


def under_sentinels(town: Town) -> list[psutil.Process]:
    """Return what the clusters' sentinels have started, of both clusters."""
    mains = [psutil.Process(town.running[name].pid) for name in ("east", "west")]
    sentinels = [sentinel for main in mains for sentinel in main.children()]
    return [process for sentinel in sentinels for process in sentinel.children()]


def test_work_goes_on_after_all_idle_workers_were_killed(town: Town) -> None:
    town.kill_all()
    with town.connect() as connection:
        connection.execute("delete from django_q_ormq")  # so that the workers have nothing to do
    town.start()
    project, key = town.new_project("idle")
    wait_for(lambda: len(under_sentinels(town)) == 2 * WORKERS_AND_HELPERS, house=town.house)
    for process in under_sentinels(town):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.kill()
    receipts = post(CONVERSATIONS, port=town.port, key=key)
    assert town.drained(project), town.house.output[-4_000:]
    with town.connect() as connection:
        assert_each_accepted_once(connection, project, receipts, ended=frozenset({"done", "rejected"}))
