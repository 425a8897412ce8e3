"""Read a streamed answer as the server does: after the view has returned, so in no project's scope."""

from typing import Any

from apps.tenants.scope import no_tenant


def streamed(answer: Any) -> bytes:
    """Return the whole body."""
    with no_tenant():
        return b"".join(answer.streaming_content)
