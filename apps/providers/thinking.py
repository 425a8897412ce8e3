"""Reasoning in answers: DeepSeek, Qwen and others write it into the answer, and some servers don't remove it."""

import re

_BLOCKS = re.compile(r"(?:\s*<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z))+", re.DOTALL)
# Some chat templates open the block themselves, so that an answer contains only its end. JSON, bare or in a code fence,
# is the answer: a tag within it is part of a quote.
_END_OF_BLOCK = re.compile(r"(?!\s*[{\[`]).*?</think(?:ing)?>", re.DOTALL)


def without_thinking(text: str) -> str:
    """Return an answer without the blocks of reasoning at its beginning; "" if it ends within one."""
    block = _BLOCKS.match(text) or _END_OF_BLOCK.match(text)
    return text[block.end() :].strip() if block else text
