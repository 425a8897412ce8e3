"""Read the body of a response with status 200: the answer, or the error that a server sent in its place."""

from typing import Any, NoReturn, TypeVar

import httpx2
import msgspec

from apps.providers.errors import NoAnswer

Answer = TypeVar("Answer")
_BAD_GATEWAY = 502
_SHOWN_CHARACTERS = 300  # of a body that is not JSON


def read_answer(response: httpx2.Response, decoder: msgspec.json.Decoder[Answer]) -> Answer:
    """Return the decoded answer. Raises NoAnswer for an error, a page, an event stream or an empty body."""
    try:
        return decoder.decode(response.content)
    except ValueError:  # also what msgspec raises
        raise_no_answer(response)


def raise_no_answer(response: httpx2.Response) -> NoReturn:
    """Raise NoAnswer with the words of the server."""
    try:
        body = msgspec.json.decode(response.content)
    except ValueError:
        body = None
    error = _error_in(body)
    words = error.get("message") if isinstance(error, dict) else error
    told = words if isinstance(words, str) and words else response.text[:_SHOWN_CHARACTERS].strip() or "an empty body"
    raise NoAnswer(
        f"no answer, although with status {response.status_code}: {told}",
        status_code=_status_in(error),
        response=response,
    )


def _error_in(body: Any) -> Any:
    """Return the error of a body, or of its first choice; None if it names none."""
    if not isinstance(body, dict):
        return None
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    return body.get("error") or first.get("error")


def _status_in(error: Any) -> int:
    """Return the status that an error names: a request that can't be answered is no outage."""
    if not isinstance(error, dict):
        return _BAD_GATEWAY
    if error.get("type") == "invalid_request_error":
        return 400
    code = str(error.get("code"))
    return int(code) if len(code) == 3 and code.isascii() and code.isdecimal() and code >= "400" else _BAD_GATEWAY
