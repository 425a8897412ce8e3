"""The context block about a user: as a tool, a resource and a prompt. Single memories are resources too."""

import json
from typing import Annotated, Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage
from pydantic import Field

from memplatform_client.mcp.access import (
    Access,
    AgentId,
    AgentScope,
    AppId,
    Connect,
    RunId,
    agent_scope,
    told_to_the_agent,
    told_to_the_reader,
)
from memplatform_client.mcp.reading_tools import READS
from memplatform_client.mcp.writing_tools import UserId

NOTHING = "Nothing is remembered about this user."


def add_context(server: MCPServer[Any], connect: Connect) -> None:
    """Add get_context, the resources and the prompt."""

    @server.tool(title="Context for a prompt", annotations=READS, structured_output=False)
    async def get_context(
        ctx: Context[Any, Any],
        query: Annotated[str, Field(description="What is to be done or answered.")] = "",
        token_budget: Annotated[int, Field(ge=1, le=32_000)] = 1_000,
        user_id: UserId = None,
        agent_id: AgentId = None,
        app_id: AppId = None,
        run_id: RunId = None,
    ) -> str:
        """Get what is remembered about a user as a block of text, the most useful for a purpose first."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                scope = agent_scope(agent_id=agent_id, app_id=app_id, run_id=run_id)
                return await _block(access, user_id, query=query, token_budget=token_budget, scope=scope)

    _add_resources(server, connect)

    @server.prompt(title="Recall")
    async def recall(ctx: Context[Any, Any], question: str, user_id: str | None = None) -> list[UserMessage]:
        """Answer a question from what is remembered about the user."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                block = await _block(access, user_id, query=question)
        return [
            UserMessage(f"{block}\n\nAnswer from what is remembered above, and say so if it is not there: {question}")
        ]


def _add_resources(server: MCPServer[Any], connect: Connect) -> None:
    @server.resource("memory://{user_id}/context", title="Context about a user", mime_type="text/plain")
    async def context(user_id: str, ctx: Context[Any, Any]) -> str:
        """What is remembered about a user, as text for a prompt."""
        async with connect(ctx) as access:
            with told_to_the_reader():
                return await _block(access, user_id)

    @server.resource("memory://memories/{memory_id}", title="A memory", mime_type="application/json")
    async def memory(memory_id: str, ctx: Context[Any, Any]) -> str:
        """A memory with its sources and links."""
        async with connect(ctx) as access:
            with told_to_the_reader():
                return json.dumps(await access.client.read_memory(memory_id), ensure_ascii=False)


async def _block(
    access: Access, user_id: str | None, *, query: str = "", token_budget: int = 1_000, scope: AgentScope | None = None
) -> str:
    user, meant = access.user_id(user_id), await access.meant(scope or {})
    answer = await access.client.build_context(user, query, token_budget=token_budget, **meant)
    return answer["context"] or NOTHING
