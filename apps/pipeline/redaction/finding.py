"""Finding: a part of a text that is sensitive data."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import re2

from apps.pipeline.core.enums import SensitiveKind
from apps.pipeline.core.placeholders import placeholder

PATTERN_BYTES = 4 << 20  # memory limit of a compiled pattern
_GROUP_NAME = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True, slots=True)
class Finding:
    """Sensitive data from `start` up to `end`; `name` distinguishes data of the same kind."""

    start: int
    end: int
    kind: SensitiveKind
    name: str = ""

    @property
    def placeholder(self) -> str:
        """Return the placeholder that replaces it."""
        return placeholder(self.kind, name=self.name)


@cache
def pattern(text: str) -> Any:
    """Compile an RE2 pattern; it matches in linear time. Raises re2.error."""
    options = re2.Options()
    options.max_mem = PATTERN_BYTES
    options.log_errors = False
    return re2.compile(text, options)


@cache
def any_of(*expressions: str) -> Any:
    """Compile a pattern that occurs in a text where any of the expressions does: one search instead of one each."""
    return pattern("|".join(f"(?:{_GROUP_NAME.sub('(?:', each)})" for each in expressions))


_group_of_value = cache(lambda expression: pattern(expression).groupindex.get("value", 0))


def values(text: str, expression: str) -> Iterator[tuple[Any, str, int, int]]:
    """Yield each match with the text, start and end of its group `value`, or of the whole match."""
    group = _group_of_value(expression)
    for match in pattern(expression).finditer(text):
        yield match, match.group(group), match.start(group), match.end(group)
