"""Tables of words in the TOML files beside this module, and the words with little meaning."""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def read_table(name: str) -> dict[str, Any]:
    """Return the content of `<name>.toml`."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def alternation(words: Iterable[str]) -> str:
    """Return words as alternatives of a regular expression, the longest first: "sisters" is tried before "sister"."""
    return "|".join(sorted(words, key=lambda word: (-len(word), word)))


_FUNCTION_WORDS = {name: frozenset(words.split()) for name, words in read_table("function_words").items()}

SMALL = _FUNCTION_WORDS["small"]  # without a meaning of their own
FRAME = (
    _FUNCTION_WORDS["light"] | _FUNCTION_WORDS["common"]
)  # so frequent that sharing them does not relate two sentences
