"""Rewriting: replace mentions by resolved names, as whole words and with their possessive forms."""

import re
from collections.abc import Iterable, Mapping

from apps.pipeline.resolution.grammar import is_description
from apps.pipeline.resolution.pronouns import POSSESSIVES, kind_of

# "her" before one of these words is an object ("told her about it"), before others a possessive.
_OBJECT_FOLLOWS = re.compile(r"\s*(?:$|[.,;:!?)]|\s(?:to|at|in|on|for|with|and|or|by|from|about|when|a|an|the)\b)")


def rewrite(content: str, *, names: Mapping[str, str]) -> str:
    """Replace each mention's text by its name in one pass, the longest first, so that no inserted name is replaced."""
    wanted = {text: name for text, name in names.items() if text and text != name}
    if not wanted:
        return content
    folded = {text.casefold(): name for text, name in wanted.items()}
    longest_first = sorted(wanted, key=len, reverse=True)
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(_written, longest_first))})(?!\w)")
    told: list[str] = []

    def replaced(found: re.Match[str]) -> str:
        name = folded[found.group().casefold()]
        before = {*told, *(each for each in names.values() if each in content[: found.start()])}
        told.append(name)
        again = name in before and kind_of(found.group()) is not None
        return _owning(content, found, _short(name, others=names.values()) if again else name)

    return pattern.sub(replaced, content)


def _short(name: str, *, others: Iterable[str]) -> str:
    """Return the first name of someone whose full name is in the sentence already, unless somebody else shares it."""
    first, _, rest = name.partition(" ")
    shared = any(each != name and each.split(" ")[0] == first for each in others)
    return name if not rest or shared or not first.isalpha() or is_description(name) else first


def _written(text: str) -> str:
    """Match names with exact case, pronouns and descriptions in either case."""
    escaped = re.escape(text)
    return f"(?i:{escaped})" if kind_of(text) or text[:1].islower() or " " in text else escaped


def _owning(content: str, found: re.Match[str], name: str) -> str:
    word = found.group().casefold()
    owns = word in POSSESSIVES and not (word == "her" and _OBJECT_FOLLOWS.match(content, found.end()))
    return f"{name}'s" if owns else name
