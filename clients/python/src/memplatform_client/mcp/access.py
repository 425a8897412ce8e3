"""How tools reach the memory server, and whom they are about."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any, NotRequired, TypedDict

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError

from memplatform_client.async_client import AsyncClient
from memplatform_client.errors import APIError, MemplatformError, NotFound


class AgentScope(TypedDict):
    """The agent, the application and the run that tell or read something."""

    agent_id: NotRequired[str]
    app_id: NotRequired[str]
    run_id: NotRequired[str]


def agent_scope(*, agent_id: str, app_id: str, run_id: str) -> AgentScope:
    """Return the identifiers that are given."""
    scope: AgentScope = {}
    if agent_id:
        scope["agent_id"] = agent_id
    if app_id:
        scope["app_id"] = app_id
    if run_id:
        scope["run_id"] = run_id
    return scope


@dataclass(frozen=True, slots=True)
class Access:
    """The client for one request of an agent, the end user that it is about unless it names another, and the agent."""

    client: AsyncClient
    default_user_id: str | None = None
    default_agent_id: str | None = None

    def user_id(self, given: str | None) -> str:
        """Return the end user. Raises ToolError if none is known."""
        user_id = given or self.default_user_id
        if not user_id:
            raise ToolError("user_id is required: no default end user is set")
        return user_id

    def told_by(self, scope: AgentScope) -> AgentScope:
        """Return who tells something: the agent of the connection unless another is named."""
        return {**({"agent_id": self.default_agent_id} if self.default_agent_id else {}), **scope}

    async def meant(self, scope: AgentScope) -> AgentScope:
        """Return whose memories are read. Raises MemplatformError.

        Those of all agents, unless one is named. The agent of the connection is, where agents don't share memories.
        """
        if self.default_agent_id is None or "agent_id" in scope:
            return scope
        key = await self.client.read_current_key()
        return self.told_by(scope) if key["memory_sharing"] == "by_agent" else scope


# Gives access for a request; it ends with the request.
Connect = Callable[[Context[Any, Any]], AbstractAsyncContextManager[Access]]


def connect_always(access: Access) -> Connect:
    """Return the same access for every request."""

    @asynccontextmanager
    async def connect(_: Context[Any, Any]) -> AsyncIterator[Access]:
        yield access

    return connect


@contextmanager
def told_to_the_agent() -> Iterator[None]:
    """Turn errors of the memory server into errors of a tool, which the agent can read."""
    try:
        yield
    except MemplatformError as error:
        raise ToolError(_text_of(error)) from error
    except UnicodeError as error:
        raise ToolError("an argument holds characters that are not text") from error


@contextmanager
def told_to_the_reader() -> Iterator[None]:
    """Turn errors of the memory server into errors of a resource."""
    try:
        yield
    except NotFound as error:
        raise ResourceNotFoundError(_text_of(error)) from error
    except (MemplatformError, ToolError) as error:
        raise ResourceError(_text_of(error)) from error


def _text_of(error: Exception) -> str:
    """Return what went wrong: the stable code of the API, and its explanation."""
    if not isinstance(error, APIError):
        return str(error)
    later = f" (try again after {error.retry_after:g} seconds)" if error.retry_after else ""
    return f"{error.code or error.status}: {error.detail}{later}"
