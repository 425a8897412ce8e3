"""What tests of a distributed database share: one that is made once, on the servers of CITUS_URL."""

import os
from collections.abc import Iterator

import pytest

from tests.distributed.citus_database import citus_database, run

CITUS_URL = os.environ.get("CITUS_URL", "")


@pytest.fixture(scope="session")
def distributed() -> Iterator[dict[str, str]]:
    """A filled database that was distributed; the environment of processes that use it."""
    if not CITUS_URL:
        pytest.skip("CITUS_URL names no coordinator of a Citus cluster")
    with citus_database(CITUS_URL) as environment:
        run(environment, "manage.py", "migrate", "-v", "0")
        run(environment, "-m", "tests.distributed.journey", "said")
        run(environment, "manage.py", "distribute", "--yes", "--shards", "4")
        yield environment
