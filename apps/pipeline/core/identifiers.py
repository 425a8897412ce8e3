"""Identifiers: UUIDv7, shown to people with a prefix for the kind of thing that they identify."""

from enum import StrEnum
from uuid import UUID, uuid5

from uuid_utils import compat

# The root of every derived identifier; changing it would orphan every end user.
_NAMESPACE = UUID("6d656d70-6c61-5466-8f72-6d0000000001")


class Prefix(StrEnum):
    """The kind of thing that an identifier identifies."""

    PROJECT = "prj"
    API_KEY = "key"
    END_USER = "usr"
    SESSION = "ses"
    TURN = "trn"
    TRACE = "trc"
    CONFIGURATION = "cfg"
    MEMORY = "mem"
    LINK = "lnk"
    ENTITY = "ent"
    ERASURE = "era"
    LEDGER_ENTRY = "led"
    ROLLBACK = "rbk"
    REPLAY = "rpl"
    IMPORT = "imp"
    ALERT = "alr"
    EVENT = "evt"
    WEBHOOK = "whk"
    WEBHOOK_DELIVERY = "dlv"
    EVALUATION_SAMPLE = "smp"
    EVALUATION_ITEM = "itm"


class BadIdentifier(ValueError):
    """The text is not an identifier of the expected kind."""


def new_id() -> UUID:
    """Return a new UUIDv7: unique without coordination, sorted by time of creation."""
    return compat.uuid7()


def end_user_id(*, project_id: UUID, user_id: str) -> UUID:
    """Derive an end user's identifier from project and the caller's own id (UUIDv5), so no look-up is needed."""
    return uuid5(_NAMESPACE, f"{project_id}\x1f{user_id}")


def session_id(*, end_user_id: UUID, session_id: str) -> UUID:
    """Derive a session's identifier from end user and the caller's own id (UUIDv5)."""
    return uuid5(end_user_id, session_id)


def show(prefix: Prefix, identifier: UUID) -> str:
    """Write an identifier as people and agents see it, such as mem_0192…"""
    return f"{prefix}_{identifier.hex}"


def parse(prefix: Prefix, text: str) -> UUID:
    """Read an identifier of one kind, with or without its prefix.

    Raises BadIdentifier.
    """
    try:
        return UUID(text.removeprefix(f"{prefix}_"))
    except ValueError as error:
        raise BadIdentifier(f"{text!r} is no {prefix}_ identifier") from error
