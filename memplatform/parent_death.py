"""End a process when its parent dies, and learn that it is asked to end."""

import asyncio
import ctypes
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

PR_SET_PDEATHSIG = 1  # linux/prctl.h


def end_with_parent(number: signal.Signals = signal.SIGTERM) -> None:
    """Ask Linux for a signal when the parent of this process dies; elsewhere nothing is done."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def join_cluster(main: int) -> None:
    """Let a process of django-q2's cluster end with its parent; call in each after it was forked.

    The sentinel, which is the child of the main process, leaves SIGTERM to that: where a whole group is asked to end,
    as systemd does, it would die while the main process waits for its answer, which then waits forever.
    """
    if os.getppid() == main:
        # A group of its own: idle workers that are asked to end with the group may leave the lock of the task queue
        # taken, and the others would wait for it forever.
        os.setpgid(0, 0)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])
        end_with_parent(signal.SIGKILL)
    else:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        end_with_parent()


def call_on_stop(call: Callable[[], object]) -> None:
    """Call something on the running event loop when a signal asks the process to end; the server's handler is kept.

    The event loop hears of signals by their wakeup descriptor, whatever the handler is.
    """
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        former = signal.getsignal(number)

        def handle(received: int, frame: Any, former: Any = former) -> None:
            loop.call_soon_threadsafe(call)
            if callable(former):
                former(received, frame)

        signal.signal(number, handle)
