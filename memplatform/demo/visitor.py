"""Let the visitor type sentences into the terminal, and show what becomes of each."""

import os
import select
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from memplatform.demo.client import Client, DemoFailed

USER_ID = "you"
_LINE_BYTES = 65_536


def can_type() -> bool:
    """Return True if the demo runs in a terminal."""
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


@dataclass(slots=True)
class Visitor:
    """Reads sentences and posts them as turns of one session; without an input it only waits."""

    client: Client
    input: int | None  # a file descriptor; None after its end
    session_id: str = field(default_factory=lambda: f"typed-{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}")

    def listen(self, *, seconds: float) -> Iterator[str]:
        """Wait for a sentence, and yield lines about what became of it."""
        if self.input is None:
            time.sleep(seconds)  # interrupted by signals
            return
        if not select.select([self.input], [], [], seconds)[0]:
            return
        typed = os.read(self.input, _LINE_BYTES)
        if not typed:
            self.input = None
            return
        text = typed.decode(errors="replace").strip()
        if text:
            yield from self._tell(text)

    def _tell(self, text: str) -> Iterator[str]:
        turn = {"role": "user", "content": text, "occurred_at": datetime.now(UTC).isoformat()}
        body = {"user_id": USER_ID, "session_id": self.session_id, "mode": "sync", "turns": [turn]}
        try:
            yield from lines_of(self.client.post("/v1/turns", body).body)
        except DemoFailed as failed:
            yield str(failed)


def lines_of(answer: dict[str, Any]) -> list[str]:
    """Return a line for each outcome of a turn."""
    if "outcomes" not in answer:
        return ["accepted; the console shows what becomes of it"]
    told = (f"{each['outcome']}: {each['content'] or each['reason']}" for each in answer["outcomes"])
    return list(told) or [answer["error"] or answer["status"]]
