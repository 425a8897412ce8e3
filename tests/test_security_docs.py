"""Each promise of docs/security.md names code and tests that exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PLACES = ("", "apps/providers", "memplatform")  # names after the first in a cell may be short


def promises() -> list[tuple[str, str, str]]:
    """Return the rows of the tables: the promise, what keeps it, and what tests it."""
    page = (ROOT / "docs/security.md").read_text().partition("## Promises")[2]
    cells = (line.strip("|").split(" | ") for line in page.splitlines() if line.startswith("| "))
    return [(row[0].strip(), row[1], row[2]) for row in cells if len(row) == 3 and row[0].strip() != "promise"]


def paths(cell: str) -> list[str]:
    """Return the names of files and folders in a cell."""
    return [name for name in re.findall(r"`([\w./]+)`", cell) if "/" in name or name.endswith(".py")]


def test_the_promises_are_found() -> None:
    assert len(promises()) > 25


@pytest.mark.parametrize(("promise", "keeper", "test"), promises(), ids=[row[0][:40] for row in promises()])
def test_a_promise_has_a_test(promise: str, keeper: str, test: str) -> None:
    assert "the same" in test or any(name.startswith("tests/") for name in paths(test)), promise
    for name in (*paths(keeper), *paths(test)):
        assert any((ROOT / place / name).exists() for place in PLACES), name
