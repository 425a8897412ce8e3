"""`manage.py distribute` on the servers of CITUS_URL: what was there stays, and agents notice nothing."""

import json

import psycopg
import pytest

from tests.distributed.citus_database import run


def test_agents_work_with_it_as_with_any_other(distributed: dict[str, str]) -> None:
    told = json.loads(run(distributed, "-m", "tests.distributed.journey", "all").splitlines()[-1])

    assert told["before"] == told["others"] == ["User lives in Lisbon."]
    assert told["executed once"] == 1
    assert any("Marta" in each for each in told["ben"])
    assert "Marta" in told["block"]
    assert told["revised"] == ["User works as a carpenter."]
    assert told["seen by the other project"] == [1, 0]
    assert told["seen by nobody"] == [0, 0]
    assert told["erased"] == []


def test_nothing_is_left_to_do_and_migrations_go_on(distributed: dict[str, str]) -> None:
    assert "nothing is left to do" in run(distributed, "manage.py", "distribute", "--yes")
    run(distributed, "manage.py", "migrate", "-v", "0")
    assert "ready: " in run(distributed, "manage.py", "check_restore")


def test_the_ledger_refuses_changes_on_every_server(distributed: dict[str, str]) -> None:
    with psycopg.connect(distributed["DATABASE_OWNER_URL"], autocommit=True) as owner:
        for statement in ("update memories_ledgerentry set actor = 'x'", "delete from memories_ledgerentry"):
            with pytest.raises(psycopg.Error, match="append-only"):
                owner.execute(statement)


def test_rows_of_an_end_user_are_on_one_server_and_several_servers_have_some(distributed: dict[str, str]) -> None:
    with psycopg.connect(distributed["DATABASE_OWNER_URL"], autocommit=True) as owner:
        kinds = dict(owner.execute("select table_name::text, colocation_id from citus_tables").fetchall())
        servers = owner.execute("select count(distinct nodeport) from citus_shards").fetchall()

    assert kinds["memories_memory"] == kinds["traces_turn"] == kinds["outbox_outboxrow"] == kinds["tenants_enduser"]
    assert servers[0][0] > 1
