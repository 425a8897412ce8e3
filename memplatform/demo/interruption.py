"""Stop requests: Ctrl-C, SIGTERM or a closed terminal."""

import signal
from dataclasses import dataclass

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Interruption:
    """Raises KeyboardInterrupt on a signal, and remembers it.

    An exception raised while Python runs a finaliser is lost, so waiting code calls `check` again.
    """

    asked: bool = False

    def listen(self) -> None:
        """Install the signal handlers."""
        for number in SIGNALS:
            signal.signal(number, self._take)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal was received."""
        if self.asked:
            raise KeyboardInterrupt

    def _take(self, *_: object) -> None:
        self.asked = True
        raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignore further signals, so that stopping child processes is not interrupted."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
