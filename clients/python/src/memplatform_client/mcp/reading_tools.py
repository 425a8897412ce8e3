"""Tools that read what is remembered."""

from typing import Annotated, Any, cast

from mcp.server.mcpserver import Context, MCPServer
from mcp_types import ToolAnnotations
from pydantic import Field

from memplatform_client.calls import LONGEST_WAIT
from memplatform_client.client import cursor_of
from memplatform_client.mcp.access import AgentId, AppId, Connect, RunId, agent_scope, told_to_the_agent
from memplatform_client.mcp.answers import event, shown
from memplatform_client.mcp.writing_tools import UserId

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
Limit = Annotated[int, Field(ge=1, le=100)]
Cursor = Annotated[str | None, Field(description="The next_cursor of the page before.")]


def add_reading_tools(server: MCPServer[Any], connect: Connect) -> None:
    """Add the tools for memories, entities and events."""
    _add_search(server, connect)
    _add_list_of_memories(server, connect)
    _add_list_of_entities(server, connect)
    _add_single(server, connect)
    _add_events(server, connect)


def _add_search(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(title="Search memories", annotations=READS)
    async def search_memories(
        ctx: Context[Any, Any],
        query: str,
        user_id: UserId = None,
        limit: Limit = 10,
        filters: Annotated[
            dict[str, Any] | None,
            Field(description="Further fields of a search: types, topics, tags, metadata, from, to, as_of, min_score."),
        ] = None,
        agent_id: AgentId = None,
        app_id: AppId = None,
        run_id: RunId = None,
    ) -> dict[str, Any]:
        """Search what is remembered about a user, by words and by meaning, best first."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                meant = await access.meant(agent_scope(agent_id=agent_id, app_id=app_id, run_id=run_id))
                about = {"user_id": access.user_id(user_id), "query": query, "limit": limit}
                fields = {**(filters or {}), **meant, **about}
                found = await access.client.request("POST", "/v1/memories/search", body=fields)
        return {"results": [shown(memory) for memory in found["results"]]}


def _add_list_of_memories(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(title="List memories", annotations=READS)
    async def get_memories(
        ctx: Context[Any, Any],
        user_id: UserId = None,
        limit: Limit = 50,
        cursor: Cursor = None,
        agent_id: AgentId = None,
        app_id: AppId = None,
        run_id: RunId = None,
    ) -> dict[str, Any]:
        """List what is remembered about a user, newest first."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                user = access.user_id(user_id)
                meant = await access.meant(agent_scope(agent_id=agent_id, app_id=app_id, run_id=run_id))
                page = await access.client.list_memories(user_id=user, limit=limit, cursor=cursor, **meant)
        return {"results": [shown(memory) for memory in page["results"]], "next_cursor": _next(page["next"])}


def _add_list_of_entities(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(title="List entities", annotations=READS)
    async def list_entities(
        ctx: Context[Any, Any], user_id: UserId = None, limit: Limit = 50, cursor: Cursor = None
    ) -> dict[str, Any]:
        """List the people, places and things that a user's memories refer to."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                user = access.user_id(user_id)
                page = await access.client.list_entities(user_id=user, limit=limit, cursor=cursor)
        return {"results": list(page["results"]), "next_cursor": _next(page["next"])}


def _add_single(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(title="Read a memory", annotations=READS)
    async def get_memory(ctx: Context[Any, Any], memory_id: str) -> dict[str, Any]:
        """Read a memory with its sources and links."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                return cast(dict[str, Any], await access.client.read_memory(memory_id))

    @server.tool(title="Read a memory's history", annotations=READS)
    async def get_memory_history(ctx: Context[Any, Any], memory_id: str) -> dict[str, Any]:
        """Read the past versions of a memory and who changed it."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                return cast(dict[str, Any], await access.client.read_history(memory_id))


def _add_events(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(title="What became of an event", annotations=READS)
    async def get_event_status(
        ctx: Context[Any, Any],
        event_id: str,
        wait_seconds: Annotated[int, Field(ge=0, le=LONGEST_WAIT, description="Wait until it is found by search.")] = 0,
    ) -> dict[str, Any]:
        """Tell what became of an add_memory: PENDING, SUCCEEDED or FAILED, and what was stored."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                return event(await access.client.read_trace(event_id, wait=wait_seconds, milestone="indexed"))

    @server.tool(title="Read a trace", annotations=READS)
    async def get_trace(ctx: Context[Any, Any], event_id: str) -> dict[str, Any]:
        """Explain an event: what each stage did, and why something was not remembered."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                return cast(dict[str, Any], await access.client.read_trace(event_id))


def _next(address: str | None) -> str | None:
    return cursor_of(address) if address else None
