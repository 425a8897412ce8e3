"""An archive of its own for each test."""

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def archive(settings: Any, tmp_path: Path) -> Path:
    settings.LEDGER_ARCHIVE = tmp_path / "ledger"
    return tmp_path / "ledger"
