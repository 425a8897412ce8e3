"""The list of promises in docs/testing.md: which tests hold which promise."""

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_ITEM = re.compile(r"^- `([a-z-]+)`: .+ \((`.+`)\)$", re.MULTILINE)


@cache
def promises() -> dict[str, list[str]]:
    """Return the test files and folders of each promise, by its name."""
    page = (ROOT / "docs/testing.md").read_text().partition("## Promises")[2]
    return {name: re.findall(r"`([\w./]+)`", cell) for name, cell in _ITEM.findall(page)}


@cache
def promises_of(file: Path) -> list[str]:
    """Return the names of the promises that a test file holds."""
    places = {file, *file.parents}
    return [name for name, paths in promises().items() if any(ROOT / path in places for path in paths)]
