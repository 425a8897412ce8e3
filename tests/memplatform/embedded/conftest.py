"""Folders of embedded servers."""

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from memplatform import embedded


@pytest.fixture
def folder() -> Iterator[Path]:
    """Give a short folder that every account may enter, and leave no server behind."""
    place = Path(tempfile.mkdtemp(prefix="emb", dir="/tmp"))
    place.chmod(0o755)
    yield place / "data"
    for path in [*place.rglob("*")]:
        if (path / "cluster").exists():
            embedded.remove(path)
    shutil.rmtree(place)


@pytest.fixture(scope="session")
def stopped() -> Iterator[Path]:
    """A data folder of a server that was created, has run and is stopped."""
    place = Path(tempfile.mkdtemp(prefix="emb", dir="/tmp"))
    place.chmod(0o755)
    embedded.up(place / "data")
    embedded.down(place / "data")
    yield place / "data"
    shutil.rmtree(place)


@pytest.fixture
def made(folder: Path, stopped: Path) -> Path:
    """Give a folder whose server has run before: to make one takes ten times as long as to start it."""
    subprocess.run(["cp", "-a", str(stopped), str(folder)], check=True)
    return folder
