"""The text of a message in the formats of chat APIs: a text, or a list of parts of which some are text."""

from typing import Any

_TEXT_TYPES = frozenset({None, "text", "input_text", "output_text"})


def message_text(content: Any) -> str:
    """Return the text of a message, its text parts joined by newlines; "" for images, calls of tools and others."""
    if isinstance(content, str):
        return content
    texts = [_text_of_part(part) for part in content] if isinstance(content, list) else []
    return "\n".join(text for text in texts if text)


def _text_of_part(part: Any) -> str:
    if isinstance(part, dict):
        part = part.get("text") if part.get("type") in _TEXT_TYPES else None
    return part if isinstance(part, str) else ""
