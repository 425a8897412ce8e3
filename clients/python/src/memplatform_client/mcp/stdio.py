"""The command `memplatform-mcp`: MCP over standard input and output, for programs that start their servers themselves.

MEMPLATFORM_URL, MEMPLATFORM_API_KEY and, for a default end user and agent, MEMPLATFORM_USER_ID and MEMPLATFORM_AGENT_ID
are read from the environment.
"""

import os
import sys

from memplatform_client.async_client import AsyncClient
from memplatform_client.errors import MemplatformError
from memplatform_client.mcp.access import Access, connect_always
from memplatform_client.mcp.server import memory_server


def main() -> int:
    """Serve until the input ends; return 2 with a line on standard error without a key."""
    try:
        client = AsyncClient()
    except MemplatformError as error:
        print(f"memplatform-mcp: {error}", file=sys.stderr)  # noqa: T201  (standard output is the protocol's)
        return 2
    agent_id = os.environ.get("MEMPLATFORM_AGENT_ID")
    serve(client, default_user_id=os.environ.get("MEMPLATFORM_USER_ID"), default_agent_id=agent_id)
    return 0


def serve(client: AsyncClient, *, default_user_id: str | None, default_agent_id: str | None) -> None:
    """Serve until the input ends."""
    memory_server(connect_always(Access(client, default_user_id, default_agent_id))).run("stdio")


if __name__ == "__main__":
    sys.exit(main())
