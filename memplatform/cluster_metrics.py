"""What a cluster has counted, for Prometheus, where it shares no data folder with a web server.

A process of its own answers: the main process forks others, which threads would make unsafe.
"""

import signal
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.context import ForkProcess

import structlog
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from apps.telemetry.counted_metrics import COUNTED
from apps.telemetry.metrics_access import may_read_metrics
from memplatform.parent_death import end_with_parent

PAUSE_SECONDS = 30.0  # between two starts, when the port is taken

log = structlog.get_logger(__name__)


class ClusterMetrics:
    """The process that answers on a port, and is started again when it ends."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._process: ForkProcess | None = None
        self._not_before = time.monotonic()

    def keep(self) -> None:
        """Start the process if it is missing, and was not started just now."""
        is_alive = self._process is not None and self._process.is_alive()
        if not is_alive and time.monotonic() >= self._not_before:
            self._not_before = time.monotonic() + PAUSE_SECONDS
            self._process = get_context("fork").Process(target=serve, args=(self._port,), name="metrics")
            self._process.start()

    def end(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.terminate()
            self._process.join()


def serve(port: int) -> None:
    """Answer until the parent ends: /metrics with what is counted, /healthz while the cluster runs."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_DFL)
    end_with_parent()
    try:
        server = ThreadingHTTPServer(("", port), _Handler)
    except OSError as error:
        log.error("metrics are not served; this is tried again", port=port, error=str(error), seconds=PAUSE_SECONDS)
        return
    server.serve_forever()


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # seconds that a client may keep a thread

    def do_GET(self) -> None:
        """Answer a request."""
        if self.path == "/healthz":
            self._answer(200, b'{"status":"ok"}', "application/json")
        elif self.path != "/metrics":
            self._answer(404, b"there are /metrics and /healthz\n")
        elif not self._may_read():
            self._answer(403, b"the token of METRICS_TOKEN, or a private address, is needed\n")
        else:
            self._answer(200, generate_latest(COUNTED), CONTENT_TYPE_LATEST)

    def _may_read(self) -> bool:
        shown = self.headers.get("Authorization", "")
        return may_read_metrics(authorization=shown, addresses=[self.client_address[0]])

    def _answer(self, status: int, body: bytes, kind: str = "text/plain; charset=utf-8") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Log no requests."""
