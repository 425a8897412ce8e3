"""The navigation of the console."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.urls import reverse

from apps.console.permissions import ProjectVisit
from apps.pipeline.core.enums import MemberRole


@dataclass(frozen=True, slots=True)
class NavigationItem:
    """A page in the navigation; without a view it is planned and has no page yet."""

    label: str
    icon: str  # a symbol of icons.svg
    view: str = ""  # URL name in the namespace console
    role: MemberRole = MemberRole.VIEWER


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A navigation item as rendered on the current page."""

    label: str
    icon: str
    address: str
    is_current: bool
    count: int | None = None


@dataclass(frozen=True, slots=True)
class NavigationGroup:
    """A titled group of navigation entries."""

    label: str
    entries: tuple[NavigationEntry, ...]


_ITEMS: dict[str, tuple[NavigationItem, ...]] = {
    "Decide": (
        NavigationItem("Review", "review", "review"),
        NavigationItem("Contradictions", "contradictions", "contradictions"),
    ),
    "Explore": (
        NavigationItem("Dashboard", "dashboard", "dashboard"),
        NavigationItem("Traces", "traces", "traces"),
        NavigationItem("Users", "user", "users"),
        NavigationItem("Recall", "search", "recall"),
        NavigationItem("Entities", "entity", "entities"),
    ),
    "Configure": (
        NavigationItem("Patterns", "patterns", "patterns"),
        NavigationItem("Configuration", "configuration", "configuration"),
        NavigationItem("Replay", "replay", "replays"),
        NavigationItem("Rollback", "rollback", "rollbacks", MemberRole.ADMIN),
        NavigationItem("Evaluation", "evaluation", "evaluation"),
    ),
    "Operate": (
        NavigationItem("Alerts", "alerts", "alerts"),
        NavigationItem("Queue", "queue", "queue"),
        NavigationItem("Audit", "audit", "audit", MemberRole.ADMIN),
        NavigationItem("Keys", "key", "keys", MemberRole.ADMIN),
        NavigationItem("Members", "members", "members", MemberRole.ADMIN),
    ),
}


def navigation(*, visit: ProjectVisit, path: str, counts: dict[str, int]) -> Iterator[NavigationGroup]:
    """Yield the groups that the visitor may see; the entry whose address is a prefix of `path` is current."""
    for label, items in _ITEMS.items():
        entries = []
        for item in items:
            if visit.may(item.role):
                address = reverse(f"console:{item.view}", args=[visit.project.slug]) if item.view else ""
                is_current = bool(address) and path.startswith(address)
                entries.append(NavigationEntry(item.label, item.icon, address, is_current, counts.get(item.view)))
        yield NavigationGroup(label, tuple(entries))
