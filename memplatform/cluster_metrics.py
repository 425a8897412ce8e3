"""What a cluster has counted, for Prometheus, where it shares no data folder with a web server.

It is one of the processes in work_processes.py, as threads in the main process would make its forks unsafe.
"""

from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import structlog
from prometheus_client import make_wsgi_app

from apps.api.metrics_access import may_read_metrics
from apps.telemetry.metrics import COUNTED
from apps.worker.shutdown import STOPPING

log = structlog.get_logger(__name__)


def serve_metrics(port: int) -> None:
    """Answer until a stop is requested: /metrics with what is counted, /healthz while the cluster runs."""
    try:
        server = make_server("", port, _application, server_class=_Server, handler_class=_Handler)
    except OSError as error:
        log.error("metrics are not served; this is tried again", port=port, error=str(error))
        return
    server.timeout = 0.5  # seconds until it looks for a stop
    while not STOPPING.is_set():
        server.handle_request()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = 10  # seconds that a client may keep a thread

    def address_string(self) -> str:
        return str(self.client_address[0])  # without asking DNS

    def log_message(self, format: str, *args: object) -> None:
        """Log no requests."""


_metrics = make_wsgi_app(COUNTED)


def _application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    status, body = "404 Not Found", b"there are /metrics and /healthz\n"
    if environ["PATH_INFO"] == "/healthz":
        status, body = "200 OK", b"ok\n"
    elif environ["PATH_INFO"] == "/metrics":
        shown = environ.get("HTTP_AUTHORIZATION", "")
        if may_read_metrics(authorization=shown, addresses=[environ["REMOTE_ADDR"]]):
            return _metrics(environ, start_response)
        status, body = "403 Forbidden", b"the token of METRICS_TOKEN, or a private address, is needed\n"
    start_response(status, [("Content-Type", "text/plain; charset=utf-8")])
    return [body]
