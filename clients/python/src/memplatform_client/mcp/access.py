"""How tools reach the memory server, and whom they are about."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ResourceError, ResourceNotFoundError, ToolError

from memplatform_client.async_client import AsyncClient
from memplatform_client.errors import APIError, MemplatformError, NotFound


@dataclass(frozen=True, slots=True)
class Access:
    """The client for one request of an agent, and the end user that it is about unless it names another."""

    client: AsyncClient
    default_user_id: str | None = None

    def user_id(self, given: str | None) -> str:
        """Return the end user. Raises ToolError if none is known."""
        user_id = given or self.default_user_id
        if not user_id:
            raise ToolError("user_id is required: no default end user is set")
        return user_id


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
