"""What journeys share: a house of their own with a running server and cluster."""

import signal
import socket
from collections.abc import Iterator

import pytest

from memplatform.demo.client import Client
from tests.house import PATIENCE, House, a_migrated_house, free_port, wait_for


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with a_migrated_house() as made:
        yield made


@pytest.fixture
def taken_port() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.fixture(scope="module")
def client(house: House) -> Iterator[Client]:
    """Call a server with a cluster beside it, with a key that may read and write."""
    port = free_port()
    house.environment["WEB_PORT"] = str(port)
    key = house.new_key("journey")
    server = house.start("sh", "scripts/serve.sh")
    cluster = house.start(*house.command("cluster"))
    caller = Client(address=f"http://127.0.0.1:{port}", key=key)
    wait_for(lambda: caller.answers("/readyz"), house=house, process=server)
    yield caller
    for process in (server, cluster):
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
