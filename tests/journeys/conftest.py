"""What journeys share: an instance with a running server and cluster."""

import pytest

from memplatform.demo.client import Client
from tests.instance import Instance, migrated_instance
from tests.journeys.serving import serving
from tests.shared_by_folder import shared_by_folder

INSTANCE = pytest.StashKey[Instance]()
CLIENT = pytest.StashKey[Client]()


@pytest.fixture(scope="module")
def instance(request: pytest.FixtureRequest) -> Instance:
    return shared_by_folder(request, key=INSTANCE, make=migrated_instance)


@pytest.fixture(scope="module")
def client(request: pytest.FixtureRequest, instance: Instance) -> Client:
    """Call the server with a key that may read and write; files with an instance of their own serve it themselves."""
    return shared_by_folder(request, key=CLIENT, make=lambda: serving(instance))
