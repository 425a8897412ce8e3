"""The MCP server for one agent."""

import json
from importlib import metadata
from typing import Any

from mcp.server.lowlevel import Server
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    TextContent,
)
from mcp_types import Tool as ShownTool

from memplatform_client.errors import APIError, MemplatformError
from memplatform_client.mcp.access import Access, ToolError
from memplatform_client.mcp.tools import TOOLS

INSTRUCTIONS = """\
Long-term memory about end users. Before you answer, call get_context or search_memories with what you need to know.
When a user says something worth remembering, call add_memory with the user's own words. Correct a memory with
update_memory, and retract a wrong one with delete_memory."""
_WRITERS = {"write", "admin"}  # scopes with which something can be changed


def memory_server(access: Access, *, version: str = "") -> Server[Any]:
    """Return a server whose tools call the memory server through `access`.

    Its version is by default that of this package, or "" where the package is not installed.
    """
    tools = {tool.name: tool for tool in TOOLS}

    async def list_tools(*_: Any) -> ListToolsResult:
        writes = await _may_write(access)
        shown = [tool.shown() for tool in TOOLS if writes or tool.only_reads]
        return ListToolsResult(tools=[ShownTool.model_validate(each) for each in shown])

    async def call_tool(_: Any, asked: CallToolRequestParams) -> CallToolResult:
        try:
            if asked.name not in tools:
                raise ToolError(f"there is no tool {asked.name}; there are {', '.join(tools)}")
            tool = tools[asked.name]
            return _result(await tool.run(access, tool.checked(asked.arguments or {})))
        except (MemplatformError, ToolError) as error:
            return _result(_text_of(error), is_error=True)
        except UnicodeError:
            return _result("an argument holds characters that are not text", is_error=True)

    return Server(
        "memplatform",
        title="memplatform",
        instructions=INSTRUCTIONS,
        version=version or _version(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def _may_write(access: Access) -> bool:
    """Tell whether the key may change something; calls are judged by the memory server in any case."""
    try:
        key = await access.client.read_current_key()
    except MemplatformError:
        return True  # which tools there are can be told without the memory server
    return not _WRITERS.isdisjoint(key["scopes"])


def _result(answer: Any, *, is_error: bool = False) -> CallToolResult:
    if isinstance(answer, str):
        return CallToolResult(content=[TextContent(text=answer)], is_error=is_error)
    return CallToolResult(content=[TextContent(text=json.dumps(answer, ensure_ascii=False))], structured_content=answer)


def _text_of(error: Exception) -> str:
    """Return what went wrong: the stable code of the API, and its explanation."""
    if not isinstance(error, APIError):
        return str(error)
    later = f" (try again after {error.retry_after:g} seconds)" if error.retry_after else ""
    return f"{error.code or error.status}: {error.detail}{later}"


def _version() -> str:
    try:
        return metadata.version("memplatform-client")
    except metadata.PackageNotFoundError:  # imported from a checkout
        return ""
