"""Every row of tests/journeys/purposes.toml holds on a distributed database as on any other."""

import json

from tests.distributed.citus_database import run


def test_what_agents_are_told_is_the_same(distributed: dict[str, str]) -> None:
    told = json.loads(run(distributed, "-m", "tests.distributed.purposes").splitlines()[-1])

    assert told["rows"] > 100
    assert told["failed"] == {}
