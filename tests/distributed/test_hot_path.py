"""On a database distributed by Citus each statement of the hot path runs on one shard.

Looks over all end users are the exceptions: they lock nothing, and none is made for each request or turn.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
# How the statements begin that look over all end users: whether a queue is full (once a second), which queues there
# are, and who is ready (once for all users that a worker claims).
LOOKS = ("select coalesce(sum(turn_count), 0)", "with queue_key as", "(select end_user_id, ready_at")


@pytest.mark.skipif(
    "CITUS_URL" not in os.environ,
    reason="needs CITUS_URL: a superuser's address of a database of `manage.py distribute`",
)
def test_each_statement_of_the_hot_path_runs_on_one_shard(tmp_path: Path) -> None:
    """CITUS_APP_URL is the address of the same database for the product itself; by default both are the same."""
    url = os.environ["CITUS_URL"]
    environment = {**os.environ, "DATABASE_URL": os.environ.get("CITUS_APP_URL", url), "DATA_DIR": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-m", "tests.distributed.hot_path", url],
        cwd=PROJECT,
        env={"SECRET_KEY": "0123456789" * 5, **environment},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    steps = json.loads(done.stdout)
    assert [(step["step"], step["error"]) for step in steps if step["error"]] == []
    assert [refused for step in steps for refused in step["refused"]] == []
    several = {" ".join(sql.split()) for step in steps for _, sql in step["several"]}
    assert [sql for sql in several if not sql.startswith(LOOKS)] == []
