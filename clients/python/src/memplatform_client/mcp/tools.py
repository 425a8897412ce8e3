"""The six tools: remember, search, context, read, correct, retract. Names and fields are those of the REST API."""

import uuid
from typing import Annotated, Any, cast

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from memplatform_client import models
from memplatform_client.calls import LONGEST_WAIT
from memplatform_client.client import cursor_of
from memplatform_client.mcp.access import Access, AgentScope, Connect, agent_scope, told_to_the_agent
from memplatform_client.mcp.context import block

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
RETRACTS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
# What an agent needs of a memory; get_memory has the rest.
_BRIEF = ("id", "content", "type", "status", "confidence", "said_at", "user_id", "version", "score")
_MARKS = ("tags", "metadata", "disputed", "unverified", "past_plan")
_COUNTS = ("stored", "merged", "superseded", "pending_review", "discarded", "memory_ids")


def add_tools(server: MCPServer[Any], connect: Connect) -> None:
    """Add all tools to a server."""
    _add_adding(server, connect)
    _add_searching(server, connect)
    _add_reading(server, connect)
    _add_changing(server, connect)


def _add_adding(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(annotations=ADDS)
    async def add_memory(
        ctx: Context[Any, Any],
        content: Annotated[str, Field(description="What the user said, in the user's own words")] = "",
        turns: Annotated[
            list[dict[str, Any]] | None,
            Field(description="A conversation instead: objects with role, content, and name where several people talk"),
        ] = None,
        user_id: str = "",
        session_id: Annotated[str, Field(description="The conversation; a new one by default")] = "",
        occurred_at: Annotated[str, Field(description="When it was said, ISO 8601; now by default")] = "",
        metadata: dict[str, Any] | None = None,
        infer: Annotated[bool, Field(description="false stores content as it is, without extraction")] = True,
        wait: Annotated[int, Field(ge=0, le=LONGEST_WAIT, description="Seconds to wait for what became of it")] = 0,
        agent_id: str = "",
        app_id: str = "",
        run_id: str = "",
    ) -> dict[str, Any]:
        """Remember what is worth it in what a user said. Extraction runs in the background unless you wait."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                user = access.user_id(user_id)
                told_by = access.told_by(agent_scope(agent_id=agent_id, app_id=app_id, run_id=run_id))
                if not infer:
                    return await _store(access, user, content, occurred_at, metadata, told_by)
                accepted = await access.client.write_turns(
                    user_id=user,
                    session_id=session_id or f"mcp-{uuid.uuid4()}",
                    turns=_turns(content, turns, occurred_at),
                    metadata=metadata,
                    **told_by,
                )
                begun = {"trace_id": accepted["trace_id"], "status": accepted["status"]}
                skipped = {"skipped": accepted["skipped"]} if accepted.get("skipped") else {}
                if not wait:
                    return begun | skipped
                trace = await access.client.read_trace(accepted["trace_id"], wait=wait, milestone="indexed")
                return _outcome(trace) | skipped


def _add_searching(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(annotations=READS)
    async def search_memories(
        ctx: Context[Any, Any],
        query: Annotated[str, Field(description="Empty lists all, newest first")] = "",
        user_id: str = "",
        types: list[str] | None = None,
        tags: list[str] | None = None,
        since: Annotated[str, Field(description="Said at this ISO 8601 time or later")] = "",
        until: str = "",
        limit: Annotated[int, Field(ge=1, le=100)] = 10,
        cursor: Annotated[str, Field(description="next_cursor of the page before, of a list")] = "",
        agent_id: str = "",
        app_id: str = "",
        run_id: str = "",
    ) -> dict[str, Any]:
        """Search what is remembered about a user, by words and by meaning, best first."""
        filters = {"types": types, "tags": tags, "since": since, "until": until}
        wanted = {name: value for name, value in filters.items() if value}
        async with connect(ctx) as access:
            with told_to_the_agent():
                user = access.user_id(user_id)
                meant = await access.meant(agent_scope(agent_id=agent_id, app_id=app_id, run_id=run_id))
                if query:
                    found = await access.client.search(user, query, limit=limit, **wanted, **meant)
                    return {"results": [_brief(memory) for memory in found["results"]]}
                page = await access.client.list_memories(
                    user_id=user, limit=limit, cursor=cursor or None, **wanted, **meant
                )
        following = cursor_of(page["next"]) if page["next"] else None
        return {"results": [_brief(memory) for memory in page["results"]], "next_cursor": following}

    @server.tool(annotations=READS, structured_output=False)
    async def get_context(
        ctx: Context[Any, Any],
        query: Annotated[str, Field(description="What is to be done or answered")] = "",
        token_budget: Annotated[int, Field(ge=1, le=32_000)] = 1_000,
        user_id: str = "",
        agent_id: str = "",
        app_id: str = "",
        run_id: str = "",
    ) -> str:
        """Get what is remembered about a user as text for a prompt, the most useful for a purpose first."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                scope = agent_scope(agent_id=agent_id, app_id=app_id, run_id=run_id)
                return await block(access, user_id, query=query, token_budget=token_budget, scope=scope)


def _add_reading(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(annotations=READS)
    async def get_memory(
        ctx: Context[Any, Any],
        memory_id: str,
        history: Annotated[bool, Field(description="With past versions, and who changed it")] = False,
    ) -> dict[str, Any]:
        """Read a memory with its sources and links."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                found = cast(dict[str, Any], await access.client.read_memory(memory_id))
                return found | ({"history": await access.client.read_history(memory_id)} if history else {})


def _add_changing(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(annotations=CHANGES)
    async def update_memory(
        ctx: Context[Any, Any],
        memory_id: str,
        content: str = "",
        metadata: dict[str, Any] | None = None,
        version: Annotated[int | None, Field(description="Only if it is still at this version")] = None,
    ) -> dict[str, Any]:
        """Correct what a memory says; the old wording stays in its history."""
        given = {"content": content or None, "metadata": metadata}
        changes = cast(models.RevisionBody, {name: value for name, value in given.items() if value is not None})
        async with connect(ctx) as access:
            with told_to_the_agent():
                return cast(dict[str, Any], await access.client.revise_memory(memory_id, changes, version=version))

    @server.tool(annotations=RETRACTS)
    async def delete_memory(ctx: Context[Any, Any], memory_id: str) -> dict[str, Any]:
        """Retract a wrong memory: it is no longer found, and its history stays."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                await access.client.retract_memory(memory_id)
        return {"id": memory_id, "status": "retracted"}


async def _store(
    access: Access, user: str, content: str, said_at: str, metadata: dict[str, Any] | None, told_by: AgentScope
) -> dict[str, Any]:
    if not content:
        raise ToolError("content is required with infer: false")
    memory = {"type": "fact", "content": content, "metadata": metadata, "said_at": said_at or None, **told_by}
    stored = await access.client.store_memories(user_id=user, memories=[cast(models.MemoryBody, memory)])
    return {"results": [_brief(each) for each in stored["results"]]}


def _turns(content: str, turns: list[dict[str, Any]] | None, occurred_at: str) -> list[models.TurnBody]:
    """Return the turns of a text or a conversation. Raises ToolError unless exactly one is given."""
    if bool(content) == bool(turns):
        raise ToolError("give either content or turns")
    said = turns or [{"content": content}]
    when = {"occurred_at": occurred_at} if occurred_at else {}
    return [cast(models.TurnBody, {"role": "user", **when, **each}) for each in said]


def _outcome(trace: models.TraceResponse) -> dict[str, Any]:
    """Return what became of what was told."""
    counts = {name: trace["counts"][name] for name in _COUNTS if name in trace["counts"]}
    reasons = {outcome["reason"] for outcome in trace["outcomes"] if outcome["outcome"] == "discarded"}
    told = {"trace_id": trace["id"], "status": trace["status"], **counts, "discarded_for": sorted(reasons)}
    return told | ({"error": trace["error"]} if trace["error"] else {})


def _brief(memory: models.MemoryResponse | models.FoundMemoryResponse) -> dict[str, Any]:
    fields = cast(dict[str, Any], memory)
    told = {name: fields[name] for name in _BRIEF if fields.get(name) is not None}  # a score of 0 is one
    return told | {name: fields[name] for name in _MARKS if fields.get(name)}
