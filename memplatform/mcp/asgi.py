"""A request that has been read, and an answer that is sent whole, as an ASGI application sees them."""

import asyncio
from dataclasses import dataclass, field
from typing import Any


@dataclass
class AsgiExchange:
    """Hands over the body at once, and keeps what is answered."""

    body: bytes
    status: int = 500
    headers: list[tuple[str, str]] = field(default_factory=list)
    sent: bytearray = field(default_factory=bytearray)
    is_received: bool = False

    async def receive(self) -> dict[str, Any]:
        """Return the body; there is nothing after it, as nobody tells when the connection ends."""
        if self.is_received:
            await asyncio.Event().wait()
        self.is_received = True
        return {"type": "http.request", "body": self.body, "more_body": False}

    async def send(self, message: Any) -> None:
        """Keep a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message["headers"]]
        else:
            self.sent += message.get("body", b"")


def asgi_scope(environ: dict[str, Any]) -> dict[str, Any]:
    """Return the ASGI scope of a request with a WSGI environment."""
    names = {name: name.removeprefix("HTTP_") for name in environ if name.startswith(("HTTP_", "CONTENT_"))}
    headers = [
        (shown.replace("_", "-").lower().encode(), str(environ[name]).encode("latin-1", "replace"))
        for name, shown in names.items()
    ]
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": environ["SERVER_PROTOCOL"].removeprefix("HTTP/"),
        "method": environ["REQUEST_METHOD"],
        "scheme": environ["wsgi.url_scheme"],
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "root_path": "",
        "headers": headers,
        "server": (environ["SERVER_NAME"], int(environ["SERVER_PORT"] or 0)),
        "client": (environ["REMOTE_ADDR"], 0),
    }
