"""Reasoning that a model writes into its answer, as DeepSeek, Qwen and others do where the server leaves it there."""

import re

_BLOCKS = re.compile(r"(?:\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z))+", re.DOTALL)
# Some chat templates open the block themselves, so that an answer holds its end only. JSON, bare or in a code fence,
# is the answer already: a tag within it belongs to what it quotes.
_END_OF_BLOCK = re.compile(r"(?!\s*[{\[`]).*?</think(?:ing)?>", re.DOTALL)


def without_thinking(text: str) -> str:
    """Return an answer without the blocks of reasoning at its beginning; nothing where it ends within one."""
    block = _BLOCKS.match(text) or _END_OF_BLOCK.match(text)
    return text[block.end() :].strip() if block else text
