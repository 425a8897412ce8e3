"""What journeys share: a house of their own with a running server and cluster."""

import signal
import socket
from collections.abc import Iterator

import pytest

from memplatform.demo.client import Client
from tests.house import PATIENCE, House, a_house, free_port, wait_for


@pytest.fixture(scope="module")
def house() -> Iterator[House]:
    with a_house() as made:
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
    assert house.run("migrate", "--verbosity=0").returncode == 0
    assert house.run("createproject", "Journey", "--slug=journey").returncode == 0
    key = house.run("createkey", "journey").stdout.strip()
    server = house.start("sh", "scripts/serve.sh")
    cluster = house.start(*house.command("cluster"))
    caller = Client(address=f"http://127.0.0.1:{port}", key=key)
    wait_for(lambda: caller.answers("/readyz"), house=house, process=server)
    yield caller
    for process in (server, cluster):
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
