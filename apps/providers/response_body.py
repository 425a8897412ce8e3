"""Read answers of servers: errors in place of an answer, reasoning within it, prompts cut without an error."""

import re
import threading
from typing import Any, NoReturn, TypeVar

import httpx2
import msgspec
import structlog

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest
from apps.pipeline.prompts.extract import estimated_tokens
from apps.providers.errors import NoAnswer, RequestRefused

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
    error, told = _told(response)
    status = _BAD_GATEWAY
    if isinstance(error, dict):  # a request that can't be answered is no outage
        code = str(error.get("code"))
        if error.get("type") == "invalid_request_error":
            status = 400
        elif len(code) == 3 and code.isascii() and code.isdecimal() and code >= "400":
            status = int(code)
    raise NoAnswer(
        f"no answer, although with status {response.status_code}: {told}", status_code=status, response=response
    )


def raise_for_status(response: httpx2.Response) -> None:
    """Raise NoAnswer with the words of the server for a status other than 2xx; RequestRefused for 400 and 422."""
    if not response.is_success:
        kind = RequestRefused if response.status_code in (400, 422) else NoAnswer
        _, told = _told(response)
        raise kind(f"status {response.status_code}: {told}", status_code=response.status_code, response=response)


def _told(response: httpx2.Response) -> tuple[Any, str]:
    """Return the error that a body contains, if it is JSON, and its words."""
    try:
        body = msgspec.json.decode(response.content)
    except ValueError:
        body = None
    error: Any = None
    if isinstance(body, dict):
        choices = body.get("choices")  # a gateway may name the error within the first one
        first = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        error = body.get("error") or first.get("error")
    words = error.get("message") if isinstance(error, dict) else error
    told = words if isinstance(words, str) else ""
    return error, told or response.text[:_SHOWN_CHARACTERS].strip() or "an empty body"


_BLOCKS = re.compile(r"(?:\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z))+", re.DOTALL)
# Some chat templates open the block themselves, so that an answer contains only its end. JSON, bare or in a code fence,
# is the answer: a tag within it is part of a quote.
_END_OF_BLOCK = re.compile(r"(?!\s*[{\[`]).*?</think(?:ing)?>", re.DOTALL)


def without_thinking(text: str) -> str:
    """Return an answer without the blocks of reasoning at its beginning; "" if it ends within one."""
    block = _BLOCKS.match(text) or _END_OF_BLOCK.match(text)
    return text[block.end() :].strip() if block else text


# The estimate counts four characters per token, which is close for English and too few tokens for most other text: a
# server that has read all of a prompt reports about as many or more. Repetitive text compresses better.
LEAST_SHARE = 0.75
WINDOW_STEP = 1_024  # context windows are whole multiples of it, and a cut prompt fills its window

_log = structlog.get_logger(__name__)


class CutPrompts:
    """Notices cut prompts; the first one of each model is logged as a warning. Shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._logged: set[str] = set()

    def check(self, request: ModelRequest, answer: ModelAnswer, *, spec: str) -> bool:
        """Return True if a server says that it has read less than what was sent."""
        sent = sum(map(estimated_tokens, (request.static, request.context, request.turns)))
        read = answer.usage.all_input
        if not is_cut(sent=sent, read=read):
            return False
        with self._lock:
            is_first = spec not in self._logged
            self._logged.add(spec)
        if is_first:
            _log.warning(
                "the model server has cut the prompt: raise its context window",
                model=spec,
                prompt_tokens_sent_at_least=sent,
                prompt_tokens_read=read,
            )
        return True


CUT_PROMPTS = CutPrompts()


def is_cut(*, sent: int, read: int) -> bool:
    """Return True if a server has read far fewer tokens than were sent; 0 read is a server that doesn't count."""
    return 0 < read < sent and (read < LEAST_SHARE * sent or read % WINDOW_STEP in (0, WINDOW_STEP - 1))
