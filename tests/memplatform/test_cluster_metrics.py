"""The process that answers with the metrics of a cluster."""

import socket
import subprocess
import sys

# In a process of its own, as the main process of a cluster has no threads when it forks.
_KEEP_TWICE = """
import django, sys
django.setup()
from memplatform import cluster_metrics
metrics = cluster_metrics.ClusterMetrics(int(sys.argv[1]))
for _ in range(2):
    metrics.keep()
    metrics._process.join()
metrics._not_before = 0.0
metrics.keep()
metrics._process.join()
"""


def test_a_taken_port_is_tried_again_after_a_pause() -> None:
    with socket.create_server(("", 0)) as taken:
        command = [sys.executable, "-c", _KEEP_TWICE, str(taken.getsockname()[1])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert (done.stdout + done.stderr).count("metrics are not served") == 2
    assert "Traceback" not in done.stdout + done.stderr
