"""Repair of JSON as language models write it: comments and trailing commas go, all else stays as it was.

Nothing is guessed: text that is broken in another way stays broken, and the model is asked once more. Each pass is
linear, whatever the text: a string or comment without an end reaches to the end of the text.
"""

import re

_STRING = r'"(?:[^"\\]|\\.)*+"?'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*+|/\*.*?(?:\*/|\Z)", re.DOTALL)
_TRAILING_COMMA = re.compile(rf"({_STRING})|,(?=\s*+[}}\]])", re.DOTALL)


def tidied(text: str) -> str:
    """Return a text without comments and without commas before a closing bracket; strings are left alone."""
    for unwanted in (_COMMENT, _TRAILING_COMMA):
        text = unwanted.sub(lambda found: found.group(1) or "", text)
    return text
