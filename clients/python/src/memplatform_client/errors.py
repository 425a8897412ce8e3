"""Errors of the client, made from the problem documents (RFC 9457) of the server."""

from collections.abc import Mapping
from typing import Any


class MemplatformError(Exception):
    """Anything that this package raises."""


class ConnectionFailed(MemplatformError):
    """The server could not be reached, or did not answer in time."""


class WaitTimeout(MemplatformError):
    """A trace had not ended when the time to wait for it was up."""


class APIError(MemplatformError):
    """The server refused a request.

    `code` is stable and meant for programs, `detail` for people. `errors` names invalid values by pointer or parameter.
    """

    def __init__(self, *, status: int, problem: Mapping[str, Any], retry_after: float | None = None) -> None:
        self.status = status
        self.code = str(problem.get("code", ""))
        self.detail = str(problem.get("detail", ""))
        self.errors: list[dict[str, str]] = list(problem.get("errors", ()))
        self.retry_after = retry_after
        super().__init__(f"{status} {self.code}: {self.detail}")


class AuthenticationFailed(APIError):
    """The API key is missing or not valid (401)."""


class PermissionDenied(APIError):
    """The API key does not have the scope that is needed (403)."""


class NotFound(APIError):
    """Nothing with this identifier exists in the project (404)."""


class Conflict(APIError):
    """What is to be changed has changed meanwhile, or exists already (409)."""


class InvalidRequest(APIError):
    """The request can't be carried out as it is (other 4xx)."""


class RateLimited(APIError):
    """Too many requests, or a full queue or quota (429); `retry_after` is in seconds."""


class ServerError(APIError):
    """The server failed, or is not available (5xx)."""


_BY_STATUS: dict[int, type[APIError]] = {
    401: AuthenticationFailed,
    403: PermissionDenied,
    404: NotFound,
    409: Conflict,
    429: RateLimited,
}


def error_of(*, status: int, problem: Mapping[str, Any], retry_after: float | None) -> APIError:
    """Return the error for a status of 400 or above."""
    kind = _BY_STATUS.get(status, ServerError if status >= 500 else InvalidRequest)
    return kind(status=status, problem=problem, retry_after=retry_after)
