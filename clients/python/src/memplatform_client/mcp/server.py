"""Put the MCP server together."""

from importlib import metadata
from typing import Any

from mcp.server.mcpserver import MCPServer

from memplatform_client.mcp.access import Connect
from memplatform_client.mcp.calls_of_tools import check_arguments, list_usable_tools
from memplatform_client.mcp.context import add_context
from memplatform_client.mcp.tools import add_tools

INSTRUCTIONS = """\
Long-term memory about end users. Before you answer, call get_context or search_memories with what you need to know.
When a user says something worth remembering, call add_memory with the user's own words. Correct a memory with
update_memory, and retract a wrong one with delete_memory. user_id may be left out where the connection names the user;
agent_id, app_id and run_id say who tells something, or whose memories are meant."""


def memory_server(connect: Connect, *, version: str = "") -> MCPServer[Any]:
    """Return a server whose tools call the memory server through `connect`.

    Its version is by default that of this package, or "" where the package is not installed.
    """
    server: MCPServer[Any] = MCPServer(
        "memplatform",
        title="memplatform",
        instructions=INSTRUCTIONS,
        version=version or _version(),
        log_level="WARNING",
        subscriptions=False,  # nothing changes that a client could be told of
    )
    add_tools(server, connect)
    add_context(server, connect)
    check_arguments(server)
    list_usable_tools(server, connect)
    return server


def _version() -> str:
    try:
        return metadata.version("memplatform-client")
    except metadata.PackageNotFoundError:  # imported from a checkout
        return ""
