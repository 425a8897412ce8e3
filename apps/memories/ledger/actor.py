"""Who acts, as the ledger names it: set once where a request, a command or a task begins."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SYSTEM = "system"  # schedules and workers
COMMAND = "command"  # anybody who can run management commands on the server

_actor: ContextVar[Callable[[], str]] = ContextVar("actor", default=lambda: SYSTEM)


@contextmanager
def acting_as(actor: str | Callable[[], str]) -> Iterator[None]:
    """Name who acts while the block runs; a function is called only when something is recorded."""
    token = _actor.set(actor if callable(actor) else lambda: actor)
    try:
        yield
    finally:
        _actor.reset(token)


def current_actor() -> str:
    """Return who acts, such as "key:…", "person:7", "command" or "system"."""
    return _actor.get()()


def current_person() -> int | None:
    """Return the number of the person who acts, None where a key, a command or the system does."""
    kind, _, number = current_actor().partition(":")
    return int(number) if kind == "person" and number.isdigit() else None
