"""Being asked to end: by Ctrl-C, SIGTERM or a closed terminal."""

import signal
from dataclasses import dataclass

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(slots=True)
class Interruption:
    """Raises KeyboardInterrupt when a signal comes, and remembers it.

    What is raised while Python runs a finaliser is swallowed there, so whoever waits looks again with `check`.
    """

    asked: bool = False

    def listen(self) -> None:
        """Take the signals from now on."""
        for number in SIGNALS:
            signal.signal(number, self._take)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal has come."""
        if self.asked:
            raise KeyboardInterrupt

    def _take(self, *_: object) -> None:
        self.asked = True
        raise KeyboardInterrupt


def ignore_signals() -> None:
    """Take no more of them: what ends children must come to its own end."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
