"""The command `memplatform-mcp`: MCP over standard input and output, for programs that start their servers themselves.

MEMPLATFORM_URL, MEMPLATFORM_API_KEY and, for a default end user and agent, MEMPLATFORM_USER_ID and MEMPLATFORM_AGENT_ID
are read from the environment.
"""

import asyncio
import os
import sys

from mcp.server.stdio import stdio_server

from memplatform_client.async_client import AsyncClient
from memplatform_client.errors import MemplatformError
from memplatform_client.mcp.access import Access
from memplatform_client.mcp.server import memory_server


def main() -> int:
    """Serve until the input ends; return 2 with a line on standard error without a key."""
    try:
        client = AsyncClient()
    except MemplatformError as error:
        print(f"memplatform-mcp: {error}", file=sys.stderr)  # noqa: T201  (standard output is the protocol's)
        return 2
    serve(Access(client, os.environ.get("MEMPLATFORM_USER_ID"), os.environ.get("MEMPLATFORM_AGENT_ID")))
    return 0


def serve(access: Access) -> None:
    """Serve until the input ends."""
    asyncio.run(_serve(access))


async def _serve(access: Access) -> None:
    server = memory_server(access)
    async with access.client, stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    sys.exit(main())
