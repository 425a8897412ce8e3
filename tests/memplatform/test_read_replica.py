"""Searches are answered by a hot standby as far as it is current, and never tell less than the primary."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, LiteralString

import psycopg
import pytest
from django.db import connection, connections
from rest_framework.test import APIClient

from apps.actions.users.erase_user import erase_user
from apps.memories.search import clear_cache, read_replica
from apps.telemetry.metrics import SEARCHES
from apps.tenants.models import Project
from memplatform.embedded.owner import owner_of
from memplatform.embedded.programs import run
from memplatform.postgresql.base import DatabaseWrapper
from tests.instance import PATIENCE, free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.soak]


def wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < deadline
        time.sleep(0.05)  # there is no notification


class Standby:
    """A hot standby of the test database's server."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self._owner = owner_of(data_dir=folder)
        source = connection.settings_dict
        self._source = ["-h", str(source["HOST"]), "-p", str(source["PORT"] or 5432), "-U", str(source["USER"])]
        self.address = {**source, "HOST": str(folder), "PORT": str(self.port)}

    def start(self) -> None:
        copy = [
            *self._source,
            "-D",
            str(self.folder / "data"),
            "--write-recovery-conf",
            "--checkpoint=fast",
            "--no-sync",
        ]
        run(owner=self._owner, program="pg_basebackup", arguments=copy)
        options = f"-c unix_socket_directories={self.folder} -c listen_addresses= -c port={self.port} -c fsync=off"
        self._pg_ctl("-o", options, "-l", str(self.folder / "log"), "-w", "start")

    def stop(self) -> None:
        if (self.folder / "data/postmaster.pid").exists():
            self._pg_ctl("-m", "immediate", "-w", "stop")

    def pause(self) -> None:
        """Replay no more changes."""
        self._ask("select pg_wal_replay_pause()")
        wait_until(lambda: self._ask("select pg_get_wal_replay_pause_state()") == "paused")

    def catch_up(self) -> None:
        """Replay everything that the primary has written until now."""
        with connection.cursor() as cursor:
            cursor.execute("select pg_current_wal_insert_lsn()::text")
            (written,) = cursor.fetchone()
        wait_until(lambda: self._ask("select pg_last_wal_replay_lsn() >= %s::pg_lsn", written))

    def _pg_ctl(self, *arguments: str) -> None:
        run(owner=self._owner, program="pg_ctl", arguments=["-D", str(self.folder / "data"), *arguments])

    def _ask(self, question: LiteralString, *values: object) -> Any:
        at = {"host": self.address["HOST"], "port": self.address["PORT"], "user": self.address["USER"]}
        with psycopg.connect(**at, dbname=self.address["NAME"], autocommit=True) as asked:
            row = asked.execute(question, values).fetchone()
        return row[0] if row else None


@pytest.fixture
def standby(settings: Any) -> Iterator[Standby]:
    folder = Path(mkdtemp(prefix="sby", dir="/tmp"))
    folder.chmod(0o777)  # for the account of the server
    made = Standby(folder)
    made.start()
    connections["replica"] = DatabaseWrapper(made.address, "default")  # tests may use connections of this name alone
    settings.SEARCH_REPLICA = "replica"
    read_replica.PAUSE.until = float("-inf")
    clear_cache()
    yield made
    connections["replica"].close()
    del connections["replica"]
    made.stop()
    shutil.rmtree(folder)


def answers() -> dict[tuple[str, str], float]:
    """Return how many searches were answered by which database, and why."""
    samples = next(iter(SEARCHES.collect())).samples
    return {(each.labels["database"], each.labels["replica"]): each.value for each in samples if "total" in each.name}


def answered(before: dict[tuple[str, str], float]) -> set[tuple[str, str]]:
    return {key for key, value in answers().items() if value > before.get(key, 0)}


def say(client: APIClient, text: str, turn: str) -> None:
    turns = [{"role": "user", "content": text, "turn_id": turn}]
    body = {"user_id": "ana", "session_id": "monday", "turns": turns, "mode": "sync"}
    assert client.post("/v1/turns", body).json()["stored"] == 1


def found(client: APIClient) -> list[str]:
    answer = client.post("/v1/memories/search", {"user_id": "ana", "query": "Which city is home?"})
    assert answer.status_code == 200, answer.content
    return [each["content"] for each in answer.json()["results"]]


def test_a_search_is_answered_by_the_replica_only_where_it_is_current(
    client: APIClient, project: Project, standby: Standby
) -> None:
    say(client, "I live in Lisbon.", "t1")
    standby.catch_up()
    for _ in range(3):  # not cached, read into the cache, cached
        before = answers()
        assert "Lisbon" in found(client)[0]
        assert answered(before) == {("replica", "current")}

    standby.pause()
    say(client, "I work as a nurse.", "t2")
    before = answers()
    assert len(found(client)) == 2
    assert answered(before) == {("primary", "behind")}

    erase_user(project_id=project.id, user_id="ana")
    say(client, "I live in Porto.", "t3")
    assert [each for each in found(client) if "Porto" not in each] == []  # the replica still has what was erased


def test_the_primary_answers_while_the_replica_is_away(client: APIClient, project: Project, standby: Standby) -> None:
    say(client, "I live in Lisbon.", "t1")
    standby.stop()
    before = answers()
    assert "Lisbon" in found(client)[0]
    assert answered(before) == {("primary", "failed")}
    before = answers()
    assert "Lisbon" in found(client)[0]
    assert answered(before) == set()  # it is not asked again at once
