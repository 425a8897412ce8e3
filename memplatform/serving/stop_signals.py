"""Learn that the process is asked to end while the web server waits for what it still serves."""

import signal
import threading
from collections.abc import Callable
from typing import Any


def call_on_stop(call: Callable[[], object]) -> None:
    """Call something when a signal asks the process to end; nothing happens outside of the main thread.

    The server's event loop hears of signals by their wakeup descriptor, whatever the handler is, so it goes on to end
    by itself. To be called once the server has set its handlers, that is, while it serves.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _calling(call, signal.getsignal(number)))


def _calling(call: Callable[[], object], former: Any) -> Callable[[int, Any], None]:
    def handle(number: int, frame: Any) -> None:
        call()
        if callable(former):
            former(number, frame)

    return handle
