"""Enums as choices of forms and database fields."""

from collections.abc import Iterable
from enum import StrEnum


def choices_of(words: type[StrEnum]) -> list[tuple[str, str]]:
    """Return the (value, label) pairs of an enum, for a form or a database field."""
    return [(word.value, word.value.replace("_", " ")) for word in words]


def values_of(words: Iterable[StrEnum]) -> list[str]:
    """Return the sorted values of some members, for a database constraint."""
    return sorted(word.value for word in words)
