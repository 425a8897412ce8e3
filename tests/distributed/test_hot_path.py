"""On a database distributed by Citus each statement of the hot path runs on one shard.

The look of a claim for users that are ready is the exception: it locks nothing. What limits are compared with is
counted before, as by the first request of a project.
"""

import json

from tests.distributed.citus_database import run

# How the statement begins by which a claim looks over all end users.
LOOK = "select end_user_id, project_id, waits_for, ready_at,"


def test_each_statement_of_the_hot_path_runs_on_one_shard(distributed: dict[str, str]) -> None:
    printed = run(distributed, "-m", "tests.distributed.hot_path", distributed["DATABASE_OWNER_URL"])

    steps = json.loads(printed.splitlines()[-1])
    assert [(step["step"], step["error"]) for step in steps if step["error"]] == []
    assert [refused for step in steps for refused in step["refused"]] == []
    for step in steps:
        assert step["statements"] > 0, step["step"]
        several = [" ".join(sql.split())[: len(LOOK)] for _, sql in step["several"]]
        assert several == ([LOOK] if step["step"].startswith("claim") else []), step["step"]
