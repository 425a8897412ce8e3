"""Recalled text: the mark around what this server renders, so that it is never remembered a second time."""

import re

_NAME = "memplatform-context"
_TAG = re.compile(rf"(?:<|&lt;)(?=/?\s*{_NAME}\b)", re.IGNORECASE)
# From an opening mark to its end, or to the end of the text where the end is missing.
_BLOCK = re.compile(rf"(?:<|&lt;)\s*{_NAME}\b.*?(?:(?:<|&lt;)/\s*{_NAME}\s*(?:>|&gt;)|\Z)", re.IGNORECASE | re.DOTALL)


def wrap(text: str) -> str:
    """Return rendered memories inside the mark; a mark within the text itself is defused."""
    return f'<{_NAME} version="1">\n{_TAG.sub("‹", text)}\n</{_NAME}>'


def is_recalled(text: str) -> bool:
    """Return True if a text holds something that this server rendered."""
    return _BLOCK.search(text) is not None


def own_words(text: str) -> str:
    """Return a text without its recalled blocks, each replaced by a line break so that no words join."""
    return _BLOCK.sub("\n", text).strip()
