"""Tools that change what is remembered."""

import uuid
from typing import Annotated, Any, cast

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from memplatform_client import models
from memplatform_client.mcp.access import (
    Access,
    AgentId,
    AgentScope,
    AppId,
    Connect,
    RunId,
    agent_scope,
    told_to_the_agent,
)
from memplatform_client.mcp.answers import added, stored

UserId = Annotated[str | None, Field(description="The end user; may be left out if a default one is set.")]
ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
CHANGES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
RETRACTS = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)


def add_writing_tools(server: MCPServer[Any], connect: Connect) -> None:
    """Add add_memory, its second name store_memory, update_memory and delete_memory."""
    _add_adding_tools(server, connect)
    _add_changing_tools(server, connect)


def _add_adding_tools(server: MCPServer[Any], connect: Connect) -> None:
    async def add_memory(
        ctx: Context[Any, Any],
        text: Annotated[str | None, Field(description="What the user said, in the user's own words.")] = None,
        messages: Annotated[
            list[dict[str, Any]] | None,
            Field(
                description="A conversation instead: objects with role and content, and name where several people talk."
            ),
        ] = None,
        user_id: UserId = None,
        session_id: Annotated[str | None, Field(description="The conversation; by default a new one.")] = None,
        metadata: dict[str, Any] | None = None,
        infer: Annotated[bool, Field(description="False stores `text` as it is, without extraction.")] = True,
        agent_id: AgentId = None,
        app_id: AppId = None,
        run_id: RunId = None,
    ) -> dict[str, Any]:
        """Remember what is worth it in a text or a conversation. Returns an event_id at once; extraction follows."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                user = access.user_id(user_id)
                told_by = access.told_by(agent_scope(agent_id=agent_id, app_id=app_id, run_id=run_id))
                if not infer:
                    return await _store(access, user=user, text=text, metadata=metadata, told_by=told_by)
                accepted = await access.client.write_turns(
                    user_id=user,
                    session_id=session_id or f"mcp-{uuid.uuid4()}",
                    turns=_turns(text, messages),
                    metadata=metadata,
                    **told_by,
                )
                return added(accepted)

    server.tool("add_memory", title="Add a memory", annotations=ADDS)(add_memory)
    server.tool("store_memory", title="Store a memory (add_memory under another name)", annotations=ADDS)(add_memory)


def _add_changing_tools(server: MCPServer[Any], connect: Connect) -> None:
    @server.tool(title="Update a memory", annotations=CHANGES)
    async def update_memory(
        ctx: Context[Any, Any],
        memory_id: str,
        text: str | None = None,
        metadata: dict[str, Any] | None = None,
        version: Annotated[int | None, Field(description="Change it only if it is still at this version.")] = None,
    ) -> dict[str, Any]:
        """Correct what a memory says; the old wording stays in its history."""
        changes: models.RevisionBody = {}
        if text is not None:
            changes["content"] = text
        if metadata is not None:
            changes["metadata"] = metadata
        async with connect(ctx) as access:
            with told_to_the_agent():
                return cast(dict[str, Any], await access.client.revise_memory(memory_id, changes, version=version))

    @server.tool(title="Delete a memory", annotations=RETRACTS)
    async def delete_memory(ctx: Context[Any, Any], memory_id: str) -> dict[str, Any]:
        """Retract a memory that is wrong: it is no longer found, and its history stays."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                await access.client.retract_memory(memory_id)
        return {"message": "Memory deleted", "memory_id": memory_id}


async def _store(
    access: Access, *, user: str, text: str | None, metadata: dict[str, Any] | None, told_by: AgentScope
) -> dict[str, Any]:
    if not text:
        raise ToolError("text is required with infer: false")
    memory: models.MemoryBody = {"type": "fact", "content": text, "metadata": metadata}
    memory.update(cast(models.MemoryBody, told_by))
    return stored(await access.client.store_memories(user_id=user, memories=[memory]))


def _turns(text: str | None, messages: list[dict[str, Any]] | None) -> list[models.TurnBody]:
    """Return the turns of a text or a conversation. Raises ToolError unless exactly one is given."""
    if bool(text) == bool(messages):
        raise ToolError("give either text or messages")
    said = messages or [{"role": "user", "content": text or ""}]
    return [cast(models.TurnBody, {"role": "user", **message}) for message in said]
