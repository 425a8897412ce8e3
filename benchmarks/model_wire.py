"""The vendors' wire formats on the server's side: requests, cache-aware usage, answers."""

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apps.pipeline.core.model_calls import Usage

CHARACTERS_A_TOKEN = 4
LEAST_CACHEABLE = 4_096  # tokens, of Claude Haiku 4.5
_CONTEXT = re.compile(r"\n\n(?=<(?:active_entities|known_memories)>\n)")  # apps/pipeline/prompts/sections.py
_ANTHROPIC_STOPS = {"end": "end_turn", "truncated": "max_tokens", "refused": "refusal"}
_OPENAI_STOPS = {"end": "stop", "truncated": "length", "refused": "content_filter"}


@dataclass(frozen=True, slots=True)
class Asked:
    """One received call."""

    is_anthropic: bool
    model: str
    static: str  # the prompt up to the cache marker, or the first message
    context: str
    turns: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(slots=True)
class Caches:
    """The prompt cache: known prefixes, counted as both vendors do."""

    seen: set[str] = field(default_factory=set)

    def clear(self) -> None:
        """Forget all prefixes."""
        self.seen.clear()

    def usage_of(self, asked: Asked) -> Usage:
        """Count the input tokens of a call; a prefix below the minimum length is neither written nor read."""
        static, rest = tokens_of(asked.static), tokens_of(asked.context) + tokens_of(asked.turns)
        if static < LEAST_CACHEABLE:
            return Usage(input=static + rest)
        key = hashlib.blake2b(f"{asked.model}\x1f{asked.static}".encode(), digest_size=16).hexdigest()
        if key in self.seen:
            return Usage(input=rest, cache_read=static)
        self.seen.add(key)
        return Usage(input=rest, cache_write=static) if asked.is_anthropic else Usage(input=static + rest)


def tokens_of(text: str) -> int:
    """Estimate the number of tokens from the number of characters."""
    return len(text) // CHARACTERS_A_TOKEN


def asked_by(*, path: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> Asked:
    """Parse a call in either format."""
    is_anthropic = path.endswith("/messages")
    blocks = _anthropic_blocks(body) if is_anthropic else _openai_blocks(body)
    static, *context, turns = [*blocks] if len(blocks) > 1 else ["", *blocks]
    return Asked(is_anthropic, str(body.get("model")), static, "\n".join(context), turns, headers, body)


def _anthropic_blocks(body: Mapping[str, Any]) -> list[str]:
    system = body.get("system") or []
    texts = [system] if isinstance(system, str) else [block["text"] for block in system]
    return [*texts, *(_text(message["content"]) for message in body["messages"])]


def _openai_blocks(body: Mapping[str, Any]) -> list[str]:
    """Return the messages' texts, the system message cut where the part about the end user begins."""
    system, *others = [_text(message["content"]) for message in body["messages"]]
    return [*_CONTEXT.split(system, maxsplit=1), *others]


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content or [])


def anthropic_body(asked: Asked, *, text: str, stop: str, usage: Usage) -> dict[str, Any]:
    """Return a Messages answer."""
    return {
        "id": "msg_local",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [{"type": "text", "text": text}],
        "stop_reason": _ANTHROPIC_STOPS[stop],
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input,
            "cache_creation_input_tokens": usage.cache_write,
            "cache_read_input_tokens": usage.cache_read,
            "output_tokens": tokens_of(text),
        },
    }


def openai_body(asked: Asked, *, text: str, stop: str, usage: Usage) -> dict[str, Any]:
    """Return a Chat Completions answer."""
    read = usage.input + usage.cache_read
    return {
        "id": "chatcmpl-local",
        "object": "chat.completion",
        "created": 0,
        "model": asked.model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": _OPENAI_STOPS[stop]}
        ],
        "usage": {
            "prompt_tokens": read,
            "completion_tokens": tokens_of(text),
            "total_tokens": read + tokens_of(text),
            "prompt_tokens_details": {"cached_tokens": usage.cache_read},
        },
    }
