"""A receiver of webhooks on loopback, which records requests and answers as a test wants."""

import base64
import hashlib
import hmac
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Received:
    """One request; names of headers are in lower case."""

    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """What was received; `statuses` are those of the next answers, 0 to hang up, -1 to say nothing, and then 204.

    `answers_after` are seconds.
    """

    url: str = ""
    requests: list[Received] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    answers_after: float = 0.0


def is_signed(request: Received, *, secret: str) -> bool:
    """Check a signature as a receiver does, with nothing of the product."""
    headers = request.headers
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + request.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return headers["webhook-signature"] == f"v1,{wanted}"


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver, waiting = Receiver(), threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append(Received({name.lower(): value for name, value in self.headers.items()}, body))
            time.sleep(receiver.answers_after)
            status = receiver.statuses.pop(0) if receiver.statuses else 204
            if status == -1:
                waiting.wait(timeout=10.0)
            if status <= 0:
                self.close_connection = True
                return
            self.send_response(status)
            self.send_header("Location", receiver.url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_port}/hook"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        waiting.set()
        server.shutdown()
        server.server_close()
        thread.join()
