"""Where each table goes: split over the servers by a column, copied to all of them, or kept on the first one.

A table with `end_user_id` is split by it, so that all rows of an end user are on one server, and a statement about one
end user touches one. The exceptions are named here, each with its reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from memplatform.distribution.schema import ForeignKey, Schema, Table

USERS = "tenants_enduser"
END_USER = "end_user_id"
PROJECT = "project_id"


class Placement(StrEnum):
    """Where the rows of a table are."""

    SPLIT = "split"  # by the hash of a column: a distributed table
    COPIED = "copied"  # on every server: a reference table
    LOCAL = "local"  # on the coordinator alone


@dataclass(frozen=True, slots=True)
class Place:
    """Where a table goes, and why. `column` and `beside` are of split tables: rows with equal values are together."""

    placement: Placement
    reason: str
    column: str = ""
    beside: str = ""


_LEDGER, _EVENTS = "memories_ledgerentry", "events_projectevent"
SPLIT_OTHERWISE: Mapping[str, Place] = {
    USERS: Place(Placement.SPLIT, "end users, to whom all their rows refer", "id"),
    _LEDGER: Place(Placement.SPLIT, "the chain of a project is in one place", PROJECT),
    "memories_ledgercheckpoint": Place(
        Placement.SPLIT, "beside the ledger, which is removed up to them", PROJECT, _LEDGER
    ),
    "items_storeditem": Place(Placement.SPLIT, "a key is unique in its project; not every item has a user", PROJECT),
    _EVENTS: Place(Placement.SPLIT, "events are numbered by project; not every one has a user", PROJECT),
    "events_webhookdelivery": Place(Placement.SPLIT, "beside the events", PROJECT, _EVENTS),
    "traces_idempotentrequest": Place(
        Placement.SPLIT, "a key is unique in its project; not every one has a user", "key"
    ),
}
KEPT_LOCAL: Mapping[str, str] = {
    "tenants_erasure": "a receipt per erasure, locked while the erasure runs",
    "events_webhook": "written with each attempt to deliver; a copied table is written on every server",
}
COPIED: Mapping[str, str] = {
    "tenants_apikey": "read in the statements that accept turns",
}
_BY_USER = Place(Placement.SPLIT, "rows of an end user", END_USER, USERS)


def layout(schema: Schema) -> dict[str, Place]:
    """Decide where each table goes.

    A table that a split or copied table refers to is copied, so that the reference can be checked on every server.
    """
    places = {name: place for name, table in schema.tables.items() if (place := _split(table)) is not None}
    named = {name: Place(Placement.COPIED, reason) for name, reason in COPIED.items() if name in schema.tables}
    places |= named | _referred(schema.foreign_keys, {*places, *named})
    for name in schema.tables:
        places.setdefault(name, Place(Placement.LOCAL, KEPT_LOCAL.get(name, "nothing that is split refers to it")))
    return places


def _split(table: Table) -> Place | None:
    if table.name in SPLIT_OTHERWISE:
        return SPLIT_OTHERWISE[table.name]
    return _BY_USER if END_USER in table.columns and table.name not in KEPT_LOCAL else None


def _referred(foreign_keys: tuple[ForeignKey, ...], placed: set[str]) -> dict[str, Place]:
    """Return the tables that placed ones refer to, directly or through others."""
    found: dict[str, Place] = {}
    while more := {
        key.target: Place(Placement.COPIED, f"{key.table} refers to it")
        for key in foreign_keys
        if key.table in placed | found.keys() and key.target not in placed | found.keys() | KEPT_LOCAL.keys()
    }:
        found |= more
    return found
