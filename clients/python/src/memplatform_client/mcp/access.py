"""Whom the tools are about, and how they reach the memory server."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memplatform_client.async_client import AsyncClient


class ToolError(Exception):
    """What an agent did wrong, in a sentence for it."""


@dataclass(frozen=True, slots=True)
class Access:
    """The client for an agent, the end user that it is about unless it names another, and the agent itself.

    `idempotency_key` is that of a call which is safe to repeat.
    """

    client: AsyncClient
    user_id: str | None = None
    agent_id: str | None = None
    idempotency_key: str | None = None

    def name_of_call(self) -> str:
        """Return a name for this call: the same one if it is repeated."""
        return self.idempotency_key or f"mcp-{uuid.uuid4()}"

    def told(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Add who tells something: the agent of the connection, unless another is named. Raises ToolError."""
        agent = {"agent_id": self.agent_id} if self.agent_id else {}
        return {**agent, **self._about(arguments)}

    async def meant(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Add whose memories are read. Raises ToolError, MemplatformError.

        Those of all agents, unless one is named. The agent of the connection is, where agents don't share memories.
        """
        if self.agent_id is None or "agent_id" in arguments:
            return self._about(arguments)
        key = await self.client.read_current_key()
        return self.told(arguments) if key["memory_sharing"] == "by_agent" else self._about(arguments)

    async def send(self, path: str, body: Mapping[str, Any], *, once: str | None = None) -> dict[str, Any]:
        """Post a request; whatever is sent `once` under a name has its effect once. Raises MemplatformError."""
        headers = {"Idempotency-Key": once} if once else {}
        answer: dict[str, Any] = await self.client.request("POST", path, body=body, headers=headers)
        return answer

    def _about(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        user_id = arguments.get("user_id", self.user_id)
        if not user_id:
            raise ToolError("user_id is required: no default end user is set")
        return {**arguments, "user_id": user_id}
