"""Learn that the process is asked to end, while the web server waits for the requests that it still answers."""

import asyncio
import signal
from collections.abc import Callable
from typing import Any


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
