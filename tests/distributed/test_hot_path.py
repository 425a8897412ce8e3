"""On a database distributed by Citus each statement of the hot path runs on one shard.

The looks of a claim over all end users are the exceptions: they lock nothing, and none is made for each request or turn.
"""

import json

from tests.distributed.citus_database import run

# How the statements begin that look over all end users: whether a queue is full (once a second), which queues there
# are, and who is ready (once for all users that a worker claims).
LOOKS = ("select coalesce(sum(turn_count), 0)", "with queue_key as", "(select end_user_id, ready_at")


def test_each_statement_of_the_hot_path_runs_on_one_shard(distributed: dict[str, str]) -> None:
    printed = run(distributed, "-m", "tests.distributed.hot_path", distributed["DATABASE_OWNER_URL"])

    steps = json.loads(printed.splitlines()[-1])
    assert [(step["step"], step["error"]) for step in steps if step["error"]] == []
    assert [refused for step in steps for refused in step["refused"]] == []
    several = {" ".join(sql.split()) for step in steps for _, sql in step["several"]}
    assert [sql for sql in several if not sql.startswith(LOOKS)] == []
