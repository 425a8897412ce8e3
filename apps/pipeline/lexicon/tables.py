"""Read the tables of words in the TOML files beside this module."""

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
