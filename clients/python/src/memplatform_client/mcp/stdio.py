"""The command `memplatform-mcp`: MCP over standard input and output, for programs that start their servers themselves.

MEMPLATFORM_URL, MEMPLATFORM_API_KEY and, for a default end user and agent, MEMPLATFORM_USER_ID and MEMPLATFORM_AGENT_ID
are read from the environment.
"""

import argparse
import asyncio
import os
import sys

from mcp.server.stdio import stdio_server

from memplatform_client.async_client import AsyncClient
from memplatform_client.errors import MemplatformError
from memplatform_client.mcp.access import Access
from memplatform_client.mcp.server import memory_server
from memplatform_client.transport import DEFAULT_URL


def main() -> int:
    """Serve until the input ends; return 2 with a line on standard error without a key."""
    options = _options()
    try:
        client = AsyncClient()
    except MemplatformError as error:
        print(f"memplatform-mcp: {error}", file=sys.stderr)  # noqa: T201  (standard output is the protocol's)
        return 2
    serve(Access(client, options.user_id, options.agent_id))
    return 0


def _options() -> argparse.Namespace:
    """Return the options of the command line; what is not given is taken from the environment."""
    parser = argparse.ArgumentParser(
        prog="memplatform-mcp",
        description="Serve MCP over standard input and output, with the memories of a server.",
        epilog="MEMPLATFORM_API_KEY is the key; MEMPLATFORM_URL the server's address, by default " + DEFAULT_URL,
    )
    for name, use in (("user", "the end user if a tool names none"), ("agent", "the agent if a tool names none")):
        variable = f"MEMPLATFORM_{name.upper()}_ID"
        parser.add_argument(f"--{name}-id", default=os.environ.get(variable), help=f"{use} (or {variable})")
    return parser.parse_args()


def serve(access: Access) -> None:
    """Serve until the input ends."""
    asyncio.run(_serve(access))


async def _serve(access: Access) -> None:
    server = memory_server(access)
    async with access.client, stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if __name__ == "__main__":
    sys.exit(main())
