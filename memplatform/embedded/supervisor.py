"""Start the embedded server again after a crash; whoever uses it looks after it."""

import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from memplatform.embedded.server import has_crashed

PROJECT = Path(__file__).resolve().parents[2]
LOOK_SECONDS = 1.0
PAUSE_SECONDS = 5.0  # after a start that has failed

log = structlog.get_logger(__name__)


@dataclass
class Supervisor:
    """Looks after the server of one data folder, without waiting for it: a start may take a minute of recovery."""

    data_dir: Path
    _starting: subprocess.Popen[bytes] | None = field(default=None, init=False)
    _not_before: float = field(default=0.0, init=False)

    @property
    def is_starting(self) -> bool:
        """Return True while a start that this object has begun goes on."""
        return self._starting is not None and self._starting.poll() is None

    def look(self) -> None:
        """Begin to start the server if it has crashed; a lock lets one of several processes start it."""
        if self.is_starting or time.monotonic() < self._not_before or not has_crashed(self.data_dir):
            return
        self._not_before = time.monotonic() + PAUSE_SECONDS
        log.warning("the embedded PostgreSQL is gone and is started again")
        command = [sys.executable, "-m", "memplatform.embedded", "up", str(self.data_dir)]
        self._starting = subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def started_again(self) -> int:
        """Wait for the start that goes on, and return its exit status."""
        return self._starting.wait() if self._starting else 0

    def look_in_background(self) -> None:
        """Look every second, in a thread that doesn't keep the process alive."""
        threading.Thread(target=self._look_for_ever, name="embedded-server", daemon=True).start()

    def _look_for_ever(self) -> None:
        while True:
            self.look()
            time.sleep(LOOK_SECONDS)  # there is no notification when a process ends that is not a child
