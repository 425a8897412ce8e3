"""What both clients share: how a call becomes a request of httpx2, and a response an answer or an error."""

import json
import os
from collections.abc import Mapping
from typing import Any, TypeVar

import httpx2

from memplatform_client.calls import Call, answer
from memplatform_client.errors import ConnectionFailed, MemplatformError, error_of
from memplatform_client.retries import seconds_of

T = TypeVar("T")
DEFAULT_URL = "http://127.0.0.1:8000"
TIMEOUT_SECONDS = 45.0  # longer than the server lets a request wait


def settings_of(*, base_url: str | None, api_key: str | None, timeout: float) -> dict[str, Any]:
    """Return the arguments of an HTTP client; the environment has what is not given. Raises MemplatformError."""
    key = api_key or os.environ.get("MEMPLATFORM_API_KEY", "")
    if not key:
        raise MemplatformError("give an api_key, or set MEMPLATFORM_API_KEY")
    return {
        "base_url": base_url or os.environ.get("MEMPLATFORM_URL", DEFAULT_URL),
        "headers": {"Authorization": f"Bearer {key}", "Accept": "application/json"},
        "timeout": timeout,
    }


def request_of(call: Call[Any]) -> Mapping[str, Any]:
    """Return the arguments of a request. Raises MemplatformError for a body that JSON can't hold."""
    request: dict[str, Any] = {"method": call.method, "url": call.path, "params": call.query, "headers": call.headers}
    if call.body is None:
        return request
    if isinstance(call.body, bytes):
        return {
            **request,
            "content": call.body,
            "headers": {"Content-Type": "application/octet-stream", **call.headers},
        }
    try:
        content = json.dumps(call.body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise MemplatformError(f"the body is not JSON: {error}") from error
    return {**request, "content": content, "headers": {"Content-Type": "application/json", **call.headers}}


def answer_of(response: httpx2.Response, call: Call[T]) -> T:
    """Return the answer of a call. Raises APIError."""
    if response.status_code >= 400:
        retry_after = seconds_of(response.headers.get("Retry-After"))
        raise error_of(status=response.status_code, problem=_problem(response), retry_after=retry_after)
    return answer(_content(response), call)


def _content(response: httpx2.Response) -> Any:
    """Return what an answer holds: JSON, text of another type such as the lines of an export, or None."""
    if not response.content:
        return None
    media_type = response.headers.get("Content-Type", "application/json").partition(";")[0].strip()
    return response.json() if media_type == "application/json" else response.text


def connection_failed(error: httpx2.TransportError, *, base_url: httpx2.URL) -> ConnectionFailed:
    """Return the error for a request that got no answer."""
    return ConnectionFailed(f"no answer from {base_url}: {type(error).__name__}: {error}")


def _problem(response: httpx2.Response) -> Mapping[str, Any]:
    """Return the problem document; one made from the text, if something before the server has answered."""
    try:
        problem = response.json()
    except json.JSONDecodeError:
        problem = None
    return problem if isinstance(problem, dict) else {"detail": response.text[:200]}
