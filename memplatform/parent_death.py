"""End a process when its parent dies, however that happens."""

import ctypes
import signal
import sys

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent(number: signal.Signals = signal.SIGTERM) -> None:
    """Ask Linux for a signal when the parent of this process dies; elsewhere nothing is done."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)
