"""Shared by the tests of models: a request, the two wire formats, and scripted replies of the server on loopback."""

from collections import deque

import pytest

from apps.pipeline.core.model_calls import ModelRequest
from apps.pipeline.core.policy import ExtractionPolicy
from apps.pipeline.prompts import extract as prompt
from apps.pipeline.prompts.sections import ShownTurn
from benchmarks.model_server import ModelServer, Reply
from tests.pipeline.builders import turn

CLAUDE, OTHER = "anthropic:claude-haiku-4-5", "openai:gpt-4.1-mini"
BOTH = pytest.mark.parametrize("spec", [CLAUDE, OTHER])
AT_ONCE = {"retry-after-ms": "1"}  # it is obeyed, so that no test waits


def request(spec: str = "", content: str = "I moved to Rome last year.") -> ModelRequest:
    return prompt.render(
        turns=[ShownTurn("t1", turn(content))], entities={}, memories={}, policy=ExtractionPolicy(model=spec)
    )


def script(server: ModelServer, *replies: Reply) -> None:
    """Let the server give these replies one after the other, and repeat the last one."""
    waiting = deque(replies)
    server.answering = lambda _: waiting.popleft() if len(waiting) > 1 else waiting[0]
