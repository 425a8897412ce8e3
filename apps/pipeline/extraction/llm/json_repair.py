"""Repair of JSON written by language models: comments and trailing commas are removed, everything else stays.

Nothing is guessed: text that is broken in another way stays broken, and the model is asked once more. Each pass is
linear for any text: an unclosed string or comment extends to the end of the text.
"""

import re

_STRING = r'"(?:[^"\\]|\\.)*"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)


def tidied(text: str) -> str:
    """Return a text without comments and without commas before a closing bracket; strings stay unchanged."""
    for unwanted in (_COMMENT, _TRAILING_COMMA):
        text = unwanted.sub(lambda found: found.group(1) or "", text)
    return text
