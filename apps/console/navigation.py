"""The places of the console, in the order in which people look for them."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from apps.console.permissions import Visit
from apps.pipeline.core.enums import MemberRole


@dataclass(frozen=True, slots=True)
class Place:
    """One entry of the navigation; without a view it has its place and no page yet."""

    label: str
    icon: str  # a symbol of icons.svg
    view: str = ""  # the name of its address in the namespace console
    role: MemberRole = MemberRole.VIEWER


@dataclass(frozen=True, slots=True)
class Entry:
    """A place as one page shows it."""

    label: str
    icon: str
    address: str
    is_here: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Places that belong together."""

    label: str
    entries: tuple[Entry, ...]


_PLACES: dict[str, tuple[Place, ...]] = {
    "Decide": (
        Place("Review", "review", "review"),
        Place("Contradictions", "contradictions", "contradictions"),
    ),
    "Look": (
        Place("Dashboard", "dashboard", "dashboard"),
        Place("Traces", "traces", "traces"),
        Place("Users", "user", "users"),
        Place("Entities", "entity", "entities"),
    ),
    "Tune": (
        Place("Patterns", "patterns", "patterns"),
        Place("Configuration", "configuration", "configuration"),
        Place("Replay", "replay"),
        Place("Rollback", "rollback"),
        Place("Evaluation", "evaluation"),
    ),
    "Run": (
        Place("Outbox", "outbox", "outbox"),
        Place("Keys", "key", "keys", MemberRole.ADMIN),
        Place("Members", "members", "members", MemberRole.ADMIN),
    ),
}


def navigation(*, visit: Visit, path: str, counts: dict[str, int]) -> Iterator[Group]:
    """Yield the groups for a visit; the place whose address `path` begins with is the one that is open."""
    for label, places in _PLACES.items():
        yield Group(label, tuple(_entry(place, visit, path, counts) for place in places if visit.may(place.role)))


def _entry(place: Place, visit: Visit, path: str, counts: dict[str, int]) -> Entry:
    address = reverse(f"console:{place.view}", args=[visit.project.slug]) if place.view else ""
    is_here = bool(address) and path.startswith(address)
    return Entry(place.label, place.icon, address, is_here, counts.get(place.view))
