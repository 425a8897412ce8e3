"""A minimal client of the REST API, and the error of the demo."""

from collections.abc import Iterator
from typing import Any

import httpx2

TIMEOUT = 60.0  # seconds per request


class DemoFailed(Exception):
    """The demo failed; the message is shown to the user."""


class Client:
    """Calls one server with one key."""

    def __init__(self, address: str, key: str = "") -> None:
        self.address, self.key = address, key
        # The server is on loopback: no proxy of the environment. A connection ends with its request: nothing to close.
        self._http = httpx2.Client(
            base_url=address,
            headers={"Authorization": f"Bearer {key}"} if key else None,
            timeout=TIMEOUT,
            limits=httpx2.Limits(max_keepalive_connections=0),
            trust_env=False,
        )

    def get(self, path: str, **query: Any) -> dict[str, Any]:
        """Return the body of a GET. Raises DemoFailed for an error."""
        body: dict[str, Any] = self._call("GET", path, params=query or None).json()
        return body

    def post(self, path: str, body: dict[str, Any], **headers: str) -> httpx2.Response:
        """POST a body. Raises DemoFailed for an error."""
        return self._call("POST", path, json=body, headers=headers)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        """Yield every result of a list, page by page."""
        page = self.get(path, **query)
        yield from page["results"]
        while page["next"]:
            page = self.get(page["next"])
            yield from page["results"]

    def answers(self, path: str) -> bool:
        """Return True if the server responds without an error."""
        try:
            self._call("GET", path)
        except DemoFailed:
            return False
        return True

    def _call(self, method: str, path: str, **sent: Any) -> httpx2.Response:
        try:
            return self._http.request(method, path, **sent).raise_for_status()
        except httpx2.HTTPStatusError as error:
            answer = error.response
            raise DemoFailed(f"{method} {path}: {answer.status_code} {answer.text[:2_000]}") from error
        except httpx2.HTTPError as error:
            raise DemoFailed(f"{method} {path}: {error}") from error
