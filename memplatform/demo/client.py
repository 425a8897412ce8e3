"""A minimal client of the REST API, and the error of the demo."""

import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode


class DemoFailed(Exception):
    """The demo failed; the message is shown to the user."""


TIMEOUT = 60.0  # seconds per request
POLL = 0.2  # seconds between two checks
# Never use a proxy for loopback, whatever the environment says.
_open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open


@dataclass(frozen=True, slots=True)
class Reply:
    """A response: status, headers (lower-case names) and decoded body."""

    status: int
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Client:
    """Calls one server with one key."""

    address: str  # http://host:port
    key: str = ""

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Return the body of a GET. Raises DemoFailed for an error."""
        return self._call("GET", f"{path}?{urlencode(query, doseq=True)}" if query else path).body

    def post(self, path: str, body: Mapping[str, Any], *, idempotency_key: str = "") -> Reply:
        """POST a body. Raises DemoFailed for an error."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        return self._call("POST", path, json.dumps(body).encode(), headers)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield every result of a list, page by page."""
        page = self.get(path, **query)
        yield from page["results"]
        while page["next"]:
            page = self._call("GET", page["next"].removeprefix(self.address)).body
            yield from page["results"]

    def answers(self, path: str) -> bool:
        """Return True if the server responds with 200."""
        try:
            return self._call("GET", path).status == 200
        except (OSError, DemoFailed):
            return False

    def _call(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Reply:
        sent = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json", **(headers or {})}
        request = urllib.request.Request(self.address + path, data=body, headers=sent, method=method)  # noqa: S310
        try:
            with _open(request, timeout=TIMEOUT) as answer:
                names = {name.lower(): value for name, value in answer.headers.items()}
                return Reply(status=answer.status, headers=names, body=json.loads(answer.read()))
        except urllib.error.HTTPError as error:
            raise DemoFailed(f"{method} {path}: {error.code} {error.read(2_000).decode(errors='replace')}") from error


def wait_until(done: Any, *, seconds: float, what: str) -> None:
    """Poll until `done()` is true. Raises DemoFailed after `seconds`."""
    deadline = time.monotonic() + seconds
    while not done():
        if time.monotonic() > deadline:
            raise DemoFailed(f"{what}: not within {seconds:.0f} seconds")
        time.sleep(POLL)  # HTTP has no notification to wait for
