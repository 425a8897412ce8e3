"""Messages in the formats of chat APIs: their roles, and their content, which is a text or a list of parts."""

from typing import Any

from apps.pipeline.core.enums import Role

_ROLES = {
    **{role.value: role for role in Role},
    "developer": Role.SYSTEM,
    "function": Role.TOOL,
    "human": Role.USER,
    "ai": Role.ASSISTANT,
    "model": Role.ASSISTANT,
}
ROLE_NAMES = tuple(_ROLES)
_TEXT_TYPES = frozenset({None, "text", "input_text", "output_text"})


def message_role(name: str) -> Role | None:
    """Return the role that chat APIs denote by a name, None for another name."""
    return _ROLES.get(name)


def message_text(content: Any) -> str:
    """Return the text of a message, its text parts joined by newlines; "" for images, calls of tools and others."""
    if isinstance(content, str):
        return content
    texts = []
    for part in content if isinstance(content, list) else ():
        text = part
        if isinstance(part, dict):
            text = part.get("text") if part.get("type") in _TEXT_TYPES else None
        if isinstance(text, str) and text:
            texts.append(text)
    return "\n".join(texts)
