"""The marker around text that this server renders, so that it is not stored as a memory again."""

import re

_NAME = "memplatform-context"
_TAG = re.compile(rf"(?:<|&lt;)(?=/?\s*{_NAME}\b)", re.IGNORECASE)
# From an opening marker to the closing one, or to the end of the text if that is missing.
_BLOCK = re.compile(rf"(?:<|&lt;)\s*{_NAME}\b.*?(?:(?:<|&lt;)/\s*{_NAME}\s*(?:>|&gt;)|\Z)", re.IGNORECASE | re.DOTALL)


def wrap(text: str) -> str:
    """Return rendered memories inside the marker; markers within the text are disabled."""
    return f'<{_NAME} version="1">\n{_TAG.sub("‹", text)}\n</{_NAME}>'


def is_recalled(text: str) -> bool:
    """Return True if a text contains something that this server rendered."""
    return _BLOCK.search(text) is not None


def without_context_blocks(text: str) -> str:
    """Return a text without the blocks that this server rendered, each replaced by a line break."""
    return _BLOCK.sub("\n", text).strip()
