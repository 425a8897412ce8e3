"""What is the same for all tools: which are listed and how, and what an argument that is left out looks like."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp_types import CallToolResult, TextContent

from memplatform_client.errors import MemplatformError
from memplatform_client.mcp.access import Connect

_WRITERS = frozenset({"write", "admin"})  # scopes with which something can be changed


def check_arguments(server: MCPServer[Any]) -> None:
    """Refuse arguments that a tool lacks, by name; take null and "", which models send, as left out."""

    async def checked(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        params = dict(ctx.params or {})
        given = params.get("arguments") or {}
        tools = await server.list_tools() if ctx.method == "tools/call" else ()
        tool = next((each for each in tools if each.name == params.get("name")), None)
        if tool is None or not isinstance(given, Mapping):
            return await call_next(ctx)
        takes, needs = tool.input_schema.get("properties", {}), tool.input_schema.get("required", ())
        if unknown := sorted(given.keys() - takes.keys()):
            text = f"{tool.name} takes no {', '.join(unknown)}; it takes {', '.join(takes)}"
            return CallToolResult(content=[TextContent(type="text", text=text)], is_error=True)
        params["arguments"] = {name: value for name, value in given.items() if name in needs or value not in (None, "")}
        return await call_next(replace(ctx, params=params))

    server.middleware.append(checked)


def list_usable_tools(server: MCPServer[Any], connect: Connect) -> None:
    """List tools briefly, without those that write if the key may only read; the memory server judges calls anyway."""

    async def listed(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        result = await call_next(ctx)
        if ctx.method != "tools/list" or not isinstance(result, dict):
            return result
        may_write = await _may_write(ctx)
        return {**result, "tools": [_brief(tool) for tool in result["tools"] if may_write or _only_reads(tool)]}

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


def _brief(tool: dict[str, Any]) -> dict[str, Any]:
    """Return a tool without what its names say already: agents pay for each word."""
    properties = {name: _plain(schema) for name, schema in tool["inputSchema"].get("properties", {}).items()}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    if needed := tool["inputSchema"].get("required"):
        schema["required"] = needed
    return {name: tool[name] for name in ("name", "description", "annotations")} | {"inputSchema": schema}


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument without its title, null and empty defaults."""
    told = {name: value for name, value in schema.items() if name != "title" and value not in (None, "")}
    for option in told.pop("anyOf", ()):
        if option.get("type") != "null":
            told |= option
    if told.get("additionalProperties") is True:
        del told["additionalProperties"]
    if isinstance(told.get("items"), dict) and told["items"].get("additionalProperties") is True:
        told["items"] = {"type": "object"}
    return told
