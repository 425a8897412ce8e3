"""A receiver fails and hangs up, processes are killed: no event is lost, and those of each user keep their order."""

import json
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import psycopg

from memplatform_client import Client
from tests.chaos.chaos_cluster import ChaosCluster
from tests.chaos.ledger import project_id
from tests.chaos.load import conversation, post
from tests.instance import PATIENCE
from tests.webhook_receiver import Receiver, receiving

USERS, TURNS = 4, 5
LOOKS = 10  # at what is owed, before the time passes again
FAILURES = [204, 500, 0, 302, 204, 503]  # and so on, for the first requests
# Time passes: leases of processes that were killed expire, waits end.
_TIME_PASSES = (
    "update events_webhook set leased_until = null, resume_at = now()",
    "update events_webhookdelivery set next_try_at = now() where state = 'waiting' and attempts > 0",
)
_OWED = """
select (select count(*) from events_projectevent where project_id = %(project)s and number is null)
     + (select count(*) from events_webhookdelivery where project_id = %(project)s and state <> 'delivered')
"""


def test_no_event_is_lost(cluster: ChaosCluster) -> None:
    cluster.start()  # what another test has ended
    slug = "hooks"
    commands = (["createproject", slug, f"--slug={slug}"], ["createkey", slug], ["createkey", slug, "--scope=admin"])
    *_, key, admin = cluster.instance.run_all(*commands).split()
    with receiving() as receiver, Client(f"http://127.0.0.1:{cluster.port}", admin) as caller:
        receiver.statuses = FAILURES * 4
        types = ["memory.created", "memory.updated", "memory.superseded", "review.needed", "trace.finished"]
        caller.request("POST", "/v1/webhooks", body={"name": "crm", "url": receiver.url, "event_types": types})
        post([conversation(user=f"user {each}", turns=TURNS) for each in range(USERS)], port=cluster.port, key=key)
        _await(lambda: len(receiver.requests) >= len(FAILURES))
        for name in ("east", "west"):
            cluster.running[name].kill()  # its children end with it, whatever they are sending
            cluster.running[name].wait()
        cluster.start()
        with cluster.connect() as connection:
            project = project_id(connection, slug)
            _await(lambda: _nothing_is_owed(connection, project, cluster))
            assert cluster.drained(project)
            _await(lambda: _nothing_is_owed(connection, project, cluster))
            told = "select number from events_projectevent where project_id = %s and type = any(%s) order by number"
            numbers = [number for (number,) in connection.execute(told, [project, types]).fetchall()]
    assert len(numbers) >= 2 * USERS
    assert sorted(_taken(receiver)) == numbers
    assert _is_in_order(receiver)


def _nothing_is_owed(connection: psycopg.Connection[Any], project: str, cluster: ChaosCluster) -> bool:
    for statement in _TIME_PASSES:
        connection.execute(statement)
    cluster.instance.run_all(["drain"])  # nothing wakes the workers because the time has passed
    for _ in range(LOOKS):  # the command takes more processor time than the work that it wakes
        owed = connection.execute(_OWED, {"project": project}).fetchone()
        if owed is not None and owed[0] == 0:
            return True
        time.sleep(0.2)  # there is no notification
    return False


def _taken(receiver: Receiver) -> set[int]:
    return {json.loads(each.body)["number"] for each in receiver.requests}


def _is_in_order(receiver: Receiver) -> bool:
    """Return True if the first arrivals of each user's events are in the order of their numbers."""
    first: dict[str, list[int]] = defaultdict(list)
    for each in receiver.requests:
        body = json.loads(each.body)
        seen = first[body["data"]["user_id"]]
        if body["number"] not in seen:
            seen.append(body["number"])
    return all(numbers == sorted(numbers) for numbers in first.values())


def _await(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.2)  # there is no notification
