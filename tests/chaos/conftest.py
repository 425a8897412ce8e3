"""What tests of chaos share: a cluster of real processes."""

import pytest

from tests.chaos.chaos_cluster import ChaosCluster, chaos_cluster
from tests.shared_by_folder import shared_by_folder

CLUSTER = pytest.StashKey[ChaosCluster]()


@pytest.fixture(scope="module")
def cluster(request: pytest.FixtureRequest) -> ChaosCluster:
    return shared_by_folder(request, key=CLUSTER, make=chaos_cluster)
