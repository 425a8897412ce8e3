"""Without its Redis a cluster works on by polling, and requests that queue a task don't wait for one that hangs."""

import json
import socket
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest

from apps.outbox.enqueue import queue_task
from memplatform.embedded import socket_directory
from memplatform.redis_broker import RedisBroker
from tests.chaos.chaos_cluster import QUICK
from tests.instance import PATIENCE, Instance, migrated_instance, wait_for

AWAY = "redis://127.0.0.1:1/0"


@pytest.fixture
def hung() -> Iterator[str]:
    """The address of a Redis that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(50)
        yield f"redis://127.0.0.1:{listening.getsockname()[1]}/0"


def states(instance: Instance) -> set[str]:
    folder = socket_directory(instance.folder / "postgresql")
    with psycopg.connect(host=str(folder), user="postgres", dbname="memplatform") as connection:
        return {row[0] for row in connection.execute("select state from outbox_outboxrow")}


def test_what_was_accepted_without_redis_is_done_when_the_broker_is_back() -> None:
    environment = QUICK | {"CLUSTER_WORKERS": "1", "LOG_LEVEL": "WARNING"}
    with migrated_instance(**environment, REDIS_URL=AWAY) as instance:
        said = {"user_id": "u", "session_id": "s", "role": "user", "content": "I live in Porto now."}
        (instance.folder / "said.jsonl").write_text(json.dumps(said) + "\n")
        ingest = ["ingest", str(instance.folder / "said.jsonl"), "--format=jsonl", "--project=a"]
        instance.run_all(["createproject", "A", "--slug=a"], ingest)
        cluster = instance.start(*instance.command("qcluster"))
        assert cluster.wait(timeout=PATIENCE) != 0  # a supervisor starts it again
        assert states(instance) == {"pending"}
        del instance.environment["REDIS_URL"]
        cluster = instance.start(*instance.command("qcluster"))
        wait_for(lambda: states(instance) == {"done"}, instance=instance, process=cluster)


@pytest.mark.parametrize("away", [True, False])
def test_a_task_that_can_not_be_queued_is_logged_in_one_line(
    away: bool, hung: str, settings: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    settings.REDIS_URL = AWAY if away else f"{hung}?socket_timeout=0.1"
    monkeypatch.setattr("django_q.tasks.get_broker", lambda *_: RedisBroker("a"))
    queue_task("replay", "an id", group="replay")
    (record,) = [each for each in caplog.records if each.name == "apps.outbox.enqueue"]
    assert "task not queued" in record.getMessage()
    assert "\n" not in record.getMessage()
