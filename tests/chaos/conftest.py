"""What tests of chaos share: a cluster of real processes, and the state that a baseline run ends in."""

from collections.abc import Iterator

import pytest

from tests.chaos.chaos_cluster import ChaosCluster, chaos_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[ChaosCluster]:
    with chaos_cluster() as made:
        yield made
