"""The context block about a user, as a resource and a prompt; single memories are resources too."""

import json
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.prompts.base import UserMessage

from memplatform_client.mcp.access import Access, AgentScope, Connect, told_to_the_agent, told_to_the_reader

NOTHING = "Nothing is remembered about this user."


def add_context(server: MCPServer[Any], connect: Connect) -> None:
    """Add the resources and the prompt."""
    _add_resources(server, connect)

    @server.prompt(title="Recall")
    async def recall(ctx: Context[Any, Any], question: str, user_id: str | None = None) -> list[UserMessage]:
        """Answer a question from what is remembered about the user."""
        async with connect(ctx) as access:
            with told_to_the_agent():
                known = await block(access, user_id, query=question)
        return [
            UserMessage(f"{known}\n\nAnswer from what is remembered above, and say so if it is not there: {question}")
        ]


def _add_resources(server: MCPServer[Any], connect: Connect) -> None:
    @server.resource("memory://{user_id}/context", title="Context about a user", mime_type="text/plain")
    async def context(user_id: str, ctx: Context[Any, Any]) -> str:
        """What is remembered about a user, as text for a prompt."""
        async with connect(ctx) as access:
            with told_to_the_reader():
                return await block(access, user_id)

    @server.resource("memory://memories/{memory_id}", title="A memory", mime_type="application/json")
    async def memory(memory_id: str, ctx: Context[Any, Any]) -> str:
        """A memory with its sources and links."""
        async with connect(ctx) as access:
            with told_to_the_reader():
                return json.dumps(await access.client.read_memory(memory_id), ensure_ascii=False)


async def block(
    access: Access, user_id: str | None, *, query: str = "", token_budget: int = 1_000, scope: AgentScope | None = None
) -> str:
    """Return the context block about a user, or that nothing is known. Raises MemplatformError."""
    user, meant = access.user_id(user_id), await access.meant(scope or {})
    answer = await access.client.build_context(user, query, token_budget=token_budget, **meant)
    return answer["context"] or NOTHING
