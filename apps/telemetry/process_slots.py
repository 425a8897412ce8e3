"""Slots: each process that counts holds a number, and so has files of its own until it ends.

A number is free again when its process has ended, however it did: the lock is one of the system's. The next process
that takes it goes on with the counts of the former, so that sums over all files never fall, and the number of files is
that of the processes that ran at the same time. Processes of one data folder share the numbers, also in containers.
"""

import fcntl
import os
import threading
from pathlib import Path

_LOCKS = "slots"  # a file with a lock on one byte for each number
_MOST = 10_000
_EXPORT = _MOST + 1  # the number of the lock of whoever sends the sums on


class ProcessSlots:
    """The numbers of the processes that use a folder.

    The file stays open: a process loses its locks when it closes any descriptor of their file.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._file = (folder / _LOCKS).open("ab")
        self._mine = ""
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget)

    def mine(self) -> str:
        """Return the name of this process's slot; the first call takes one."""
        if not self._mine:
            with self._lock:
                self._mine = self._mine or f"slot{self._take()}"
        return self._mine

    def is_held(self, name: str) -> bool:
        """Return True if a running process holds a slot."""
        if name == self._mine:
            return True
        number = int(name.removeprefix("slot"))
        if not self._try(number):
            return True
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, number)
        return False

    def may_export(self) -> bool:
        """Return True in one process of the folder, until it ends: the one that asked first."""
        return self._try(_EXPORT)

    def _take(self) -> int:
        for number in range(_MOST):
            if self._try(number):
                for left in self.folder.glob(f"gauge_*_slot{number}.db"):
                    left.unlink(missing_ok=True)  # a gauge tells of a process that has ended
                return number
        raise RuntimeError(f"more than {_MOST} processes count in {self.folder}")

    def _try(self, number: int) -> bool:
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, number)
        except OSError:
            return False
        return True

    def _forget(self) -> None:
        """Take another number in a forked process, which has inherited no lock."""
        self._mine = ""
        self._lock = threading.Lock()
