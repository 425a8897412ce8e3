"""Detect prompts that a server has cut to its context window without an error, as Ollama does."""

import threading
from collections import Counter

import structlog

from apps.pipeline.core.model_calls import ModelAnswer, ModelRequest, Usage
from apps.pipeline.prompts.extract import estimated_tokens

# The estimate counts four characters per token, which is close for English and too few tokens for most other text: a
# server that has read all of a prompt reports about as many or more. Repetitive text compresses better.
LEAST_SHARE = 0.75
WINDOW_STEP = 1_024  # context windows are whole multiples of it, and a cut prompt fills its window

_log = structlog.get_logger(__name__)


class CutPrompts:
    """How many prompts were cut, by model; the first one of each is logged as a warning. Shared by threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def check(self, request: ModelRequest, answer: ModelAnswer, *, spec: str) -> None:
        """Compare the tokens that a server reports with those that were sent."""
        sent, read = _sent(request), read_tokens(answer.usage)
        if not is_cut(sent=sent, read=read):
            return
        with self._lock:
            self._counts[spec] += 1
            is_first = self._counts[spec] == 1
        if is_first:
            _log.warning(
                "the model server has cut the prompt: raise its context window",
                model=spec,
                prompt_tokens_sent_at_least=sent,
                prompt_tokens_read=read,
            )

    def count(self, spec: str) -> int:
        """Return how many cut prompts of a model this process has detected."""
        return self._counts[spec]


CUT_PROMPTS = CutPrompts()


def is_cut(*, sent: int, read: int) -> bool:
    """Return True if a server has read far fewer tokens than were sent; 0 read is a server that doesn't count."""
    return 0 < read < sent and (read < LEAST_SHARE * sent or read % WINDOW_STEP in (0, WINDOW_STEP - 1))


def read_tokens(usage: Usage) -> int:
    """Return how many tokens of input a call has been billed for, cached or not."""
    return usage.input + usage.cache_read + usage.cache_write


def _sent(request: ModelRequest) -> int:
    return sum(map(estimated_tokens, (request.static, request.context, request.turns)))
