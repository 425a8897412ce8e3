"""A dump is restored on a new server by the documented commands, and the service goes on there."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from rest_framework.test import APIClient

from memplatform import embedded
from memplatform.embedded.programs import owner_of, run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def new_server() -> Iterator[Path]:
    folder = Path(mkdtemp(prefix="emb", dir="/tmp"))
    folder.chmod(0o777)  # dumps are written by the account of the server
    yield folder
    embedded.remove(folder / "data")
    shutil.rmtree(folder)


@contextmanager
def connected(**address: Any) -> Iterator[None]:
    usual = connection.settings_dict
    connection.close()
    connection.settings_dict = {**usual, **address}
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict = usual


def address(server: dict[str, Any]) -> list[str]:
    return ["-h", str(server["HOST"]), "-p", str(server["PORT"] or 5432), "-U", str(server["USER"])]


def say(client: APIClient, text: str, turn: str) -> dict[str, Any]:
    turns = [{"role": "user", "content": text, "turn_id": turn}]
    body = {"user_id": "ana", "session_id": "monday", "turns": turns, "mode": "sync"}
    answer = client.post("/v1/turns", body)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def found(client: APIClient, query: str) -> str:
    answer = client.post("/v1/memories/search", {"user_id": "ana", "query": query})
    assert answer.status_code == 200, answer.content
    return str(answer.json()["results"][0]["content"])


def test_search_context_and_new_turns_work_on_the_restored_server(client: APIClient, new_server: Path) -> None:
    say(client, "I live in Lisbon.", "t1")
    assert "Lisbon" in found(client, "Which city is home?")
    source, dump = connection.settings_dict, new_server / "dump"
    owner = owner_of(data_dir=new_server / "data")
    run(owner=owner, program="pg_dump", arguments=[*address(source), "-Fc", "-f", str(dump), source["NAME"]])

    made = embedded.up(new_server / "data")
    target = {"HOST": made.host, "PORT": made.port, "USER": made.user, "NAME": made.name}
    run(owner=owner, program="pg_restore", arguments=[*address(target), "--exit-on-error", "-d", made.name, str(dump)])

    with connected(**target):
        call_command("check_restore")
        assert "Lisbon" in found(client, "Which city is home?")
        assert say(client, "I work as a nurse.", "t2")["stored"] == 1
        assert "nurse" in found(client, "What is her job?")
        block = client.post("/v1/context", {"user_id": "ana", "query": "Plan a weekend", "token_budget": 300}).json()
        assert "Lisbon" in str(block)
        assert "nurse" in str(block)


def test_a_database_with_something_missing_is_not_called_ready() -> None:
    with connection.cursor() as cursor:
        cursor.execute("alter table memories_memory no force row level security")
    try:
        with pytest.raises(CommandError, match="row-level security is not in force on memories_memory"):
            call_command("check_restore")
    finally:
        with connection.cursor() as cursor:
            cursor.execute("alter table memories_memory force row level security")
