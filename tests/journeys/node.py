"""Node for tests: packages are installed from a lock file once, and again when it changes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.instance import PATIENCE


def installed(folder: Path) -> Path:
    """Install the packages of a folder from its lock file, and return it. Skips without npm, but fails in CI."""
    if shutil.which("npm") is None:
        reason = "needs node and npm (Debian: nodejs and npm)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    lock, stamp = folder / "package-lock.json", folder / "node_modules/.installed-lock.json"
    if not stamp.exists() or stamp.read_text() != lock.read_text():
        run_node(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"], folder=folder)
        stamp.write_text(lock.read_text())
    return folder


def run_node(command: list[str], *, folder: Path, **environment: str) -> str:
    """Return what a command of node or npm prints; it has to succeed."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, _failures(done.stdout) + done.stderr[-2_000:]
    return done.stdout


def _failures(report: str) -> str:
    """Return the parts of a report of node's test runner that tell of failures; the end of another text."""
    parts = [each[:2_000] for each in report.split("# Subtest: ") if "\nnot ok" in each]
    return "\n".join(parts) or report[-4_000:]
