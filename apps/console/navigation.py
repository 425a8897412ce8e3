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
    key: str = ""  # that opens the page after "g"
    role: MemberRole = MemberRole.VIEWER


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A navigation item as rendered on the current page."""

    label: str
    icon: str
    address: str
    is_current: bool
    key: str = ""
    count: int | None = None


@dataclass(frozen=True, slots=True)
class NavigationGroup:
    """A titled group of navigation entries."""

    label: str
    entries: tuple[NavigationEntry, ...]


_ITEMS: dict[str, tuple[NavigationItem, ...]] = {
    "Decide": (
        NavigationItem("Review", "review", "review", "r"),
        NavigationItem("Contradictions", "contradictions", "contradictions", "c"),
        NavigationItem("My decisions", "check", "decisions", "h", MemberRole.REVIEWER),
    ),
    "Explore": (
        NavigationItem("Dashboard", "dashboard", "dashboard", "d"),
        NavigationItem("Traces", "traces", "traces", "t"),
        NavigationItem("Memories", "memories", "memories", "n"),
        NavigationItem("Users", "user", "users", "u"),
        NavigationItem("Recall", "search", "recall", "f"),
        NavigationItem("Entities", "entity", "entities", "e"),
    ),
    "Configure": (
        NavigationItem("Patterns", "patterns", "patterns", "p"),
        NavigationItem("Configuration", "configuration", "configuration", "s"),
        NavigationItem("Replay", "replay", "replays", "y"),
        NavigationItem("Rollback", "rollback", "rollbacks", "b", MemberRole.ADMIN),
        NavigationItem("Evaluation", "evaluation", "evaluation", "v"),
    ),
    "Operate": (
        NavigationItem("Alerts", "alerts", "alerts", "a"),
        NavigationItem("Queue", "queue", "queue", "q"),
        NavigationItem("Imports", "download", "imports", "i", MemberRole.ADMIN),
        NavigationItem("Webhooks", "webhook", "webhooks", "w", MemberRole.ADMIN),
        NavigationItem("Audit", "audit", "audit", "l", MemberRole.ADMIN),
        NavigationItem("Keys", "key", "keys", "k", MemberRole.ADMIN),
        NavigationItem("Members", "members", "members", "m", MemberRole.ADMIN),
        NavigationItem("Project", "project", "project-settings", "o", MemberRole.ADMIN),
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
                entries.append(
                    NavigationEntry(item.label, item.icon, address, is_current, item.key, counts.get(item.view))
                )
        yield NavigationGroup(label, tuple(entries))
