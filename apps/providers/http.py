"""What both SDKs' HTTP clients have in common."""

import contextlib
from typing import Any

# What reading an answer raises that isn't built as the SDK expects: it takes the server's word for the shape.
MALFORMED = (ValueError, TypeError, AttributeError, LookupError)
LONGEST_WAIT = 8.0  # seconds; the SDKs obey any wait that a server asks for, with a worker's thread


def refuse_long_waits(response: Any) -> None:
    """Let a server's long retry-after fail the call at once: the outbox waits without holding a thread."""
    with contextlib.suppress(ValueError):
        if float(response.headers.get("retry-after", 0)) > LONGEST_WAIT:
            response.headers["x-should-retry"] = "false"
