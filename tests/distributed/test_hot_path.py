"""On a database distributed by Citus each statement of the hot path runs on one shard.

The looks of a claim over all end users are the exceptions: they lock nothing.
"""

import json

from tests.distributed.citus_database import run

# How the statements begin by which a claim looks over all end users: which queues there are, and who is ready.
LOOKS = ("with queue_key as", "(select end_user_id, ready_at")


def test_each_statement_of_the_hot_path_runs_on_one_shard(distributed: dict[str, str]) -> None:
    printed = run(distributed, "-m", "tests.distributed.hot_path", distributed["DATABASE_OWNER_URL"])

    steps = json.loads(printed.splitlines()[-1])
    assert [(step["step"], step["error"]) for step in steps if step["error"]] == []
    assert [refused for step in steps for refused in step["refused"]] == []
    for step in steps:
        assert step["statements"] > 0, step["step"]
        looks = LOOKS if step["step"].startswith("claim") else ()
        several = [" ".join(sql.split()) for _, sql in step["several"]]
        assert [sql for sql in several if not sql.startswith(looks)] == [], step["step"]
