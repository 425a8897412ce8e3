"""The files that docs/architecture.md names exist."""

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]


def test_every_named_file_exists() -> None:
    named = re.findall(r"`(apps/[\w/]+\.py)`", (PROJECT / "docs/architecture.md").read_text())
    assert len(named) > 15
    assert [path for path in named if not (PROJECT / path).is_file()] == []
