"""A running server and cluster of an instance."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from memplatform.demo.client import Client
from tests.instance import PATIENCE, Instance, free_port, wait_for

FEW_PROCESSES = {"WEB_WORKERS": "1", "CLUSTER_WORKERS": "2"}  # the demo's tests start as many as usual


@contextmanager
def serving(instance: Instance) -> Iterator[Client]:
    """Call a server with a cluster beside it, with a key that may read and write."""
    port = free_port()
    instance.environment.update(FEW_PROCESSES, WEB_PORT=str(port))
    key = instance.new_key("journey")
    server = instance.start(*instance.command("serve"))
    cluster = instance.start(*instance.command("qcluster"))
    caller = Client(address=f"http://127.0.0.1:{port}", key=key)
    wait_for(lambda: caller.answers("/readyz"), instance=instance, process=server)
    yield caller
    for process in (server, cluster):
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=PATIENCE)
