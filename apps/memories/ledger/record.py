"""Write an act into the ledger."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from apps.memories.models import LedgerEntry

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


def record(
    *,
    project_id: UUID,
    verb: str,
    object_kind: str,
    object_id: UUID,
    end_user_id: UUID | None = None,
    actor: str = "",
    details: Mapping[str, Any] | None = None,
) -> None:
    """Add one entry in the caller's transaction, by default for the current actor.

    `details` hold identifiers, names of fields and numbers, no content.
    """
    LedgerEntry.objects.create(
        project_id=project_id,
        end_user_id=end_user_id,
        actor=actor or current_actor(),
        verb=verb,
        object_kind=object_kind,
        object_id=object_id,
        details=dict(details or {}),
    )
