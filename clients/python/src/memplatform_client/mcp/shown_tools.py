"""Which tools `tools/list` shows: those that the key may use."""

from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer

from memplatform_client.errors import MemplatformError
from memplatform_client.mcp.access import Connect

_WRITERS = {"write", "admin"}  # scopes with which something can be changed


def show_usable_tools(server: MCPServer[Any], connect: Connect) -> None:
    """Leave out tools that write if the key may only read. Calls are judged by the memory server in any case."""

    async def listed(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "tools/list" or not isinstance(result, dict) or await _may_write(ctx):
            return result
        return {**result, "tools": [tool for tool in result["tools"] if _only_reads(tool)]}

    async def _may_write(ctx: ServerRequestContext[Any, Any]) -> bool:
        async with connect(Context(request_context=ctx, mcp_server=server)) as access:
            try:
                key = await access.client.read_current_key()
            except MemplatformError:
                return True  # which tools there are can be told without the memory server
        return not _WRITERS.isdisjoint(key["scopes"])

    server.middleware.append(listed)


def _only_reads(tool: dict[str, Any]) -> bool:
    return bool(tool.get("annotations", {}).get("readOnlyHint"))
