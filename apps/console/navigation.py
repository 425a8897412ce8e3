"""The navigation of the console: eight places, each with its pages as tabs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.http import urlencode

from apps.console.permissions import ProjectVisit
from apps.pipeline.core.enums import LinkKind
from apps.tenants.enums import MemberRole


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a place: the question that it answers, or what it lists."""

    label: str
    view: str  # URL name in the namespace console
    key: str = ""  # that opens the page after "g"
    query: Mapping[str, str] = field(default_factory=dict)  # of its address
    count: str = ""  # name of the number of what waits there
    role: MemberRole = MemberRole.VIEWER


@dataclass(frozen=True, slots=True)
class Place:
    """An entry of the navigation; its pages are those that the visitor may see."""

    label: str
    icon: str  # a symbol of icons.svg
    pages: tuple[Page, ...]


ADMIN = MemberRole.ADMIN
PLACES = (
    Place(
        "Inbox",
        "review",
        (
            Page("Is it true?", "review", "r", count="review"),
            Page("Which one?", "contradictions", "c", {"kind": LinkKind.CONTRADICTS}, "contradictions"),
            Page("The same?", "contradictions", "2", {"kind": LinkKind.POSSIBLE_DUPLICATE}, "duplicates"),
            Page("Done by me", "decisions", "h", role=MemberRole.REVIEWER),
        ),
    ),
    Place(
        "Ask",
        "search",
        (
            Page("About a user", "users", "u"),
            Page("Is it remembered?", "ask", "j"),
            Page("What if", "recall", "f"),
        ),
    ),
    Place(
        "Memories",
        "memories",
        (
            Page("Memories", "memories", "n"),
            Page("People and things", "entities", "e"),
        ),
    ),
    Place("Activity", "traces", (Page("Messages", "traces", "t"),)),
    Place(
        "Rules & settings",
        "patterns",
        (
            Page("Filter rules", "patterns", "p", role=ADMIN),
            Page("Settings", "configuration", "s", role=ADMIN),
            Page("Try on past messages", "replays", "y", role=ADMIN),
        ),
    ),
    Place("Quality", "evaluation", (Page("Numbers", "dashboard", "d"), Page("Labels", "evaluation", "v"))),
    Place(
        "Health",
        "alerts",
        (
            Page("What is wrong", "alerts", "a", count="alerts", role=ADMIN),
            Page("Being processed", "queue", "q", count="queue", role=ADMIN),
        ),
    ),
    Place(
        "Settings",
        "project",
        (
            Page("Keys", "keys", "k", role=ADMIN),
            Page("Members", "members", "m", role=ADMIN),
            Page("Webhooks", "webhooks", "w", role=ADMIN),
            Page("Imports", "imports", "i", role=ADMIN),
            Page("Rollback", "rollbacks", "b", role=ADMIN),
            Page("Audit", "audit", "l", role=ADMIN),
            Page("Project", "project-settings", "o", role=ADMIN),
        ),
    ),
)


def navigation(
    *, visit: ProjectVisit, path: str, query: Mapping[str, str], counts: Mapping[str, int]
) -> Iterator[dict[str, Any]]:
    """Yield the places that the visitor may see; the page whose address is a prefix of `path` is current.

    Of pages with the same address the one is current whose query the request has, otherwise the first of them.
    """
    sums = with_sums(counts, visit=visit)
    for place in PLACES:
        allowed = [page for page in place.pages if visit.may(page.role)]
        roots = [visit.address(page.view) for page in allowed]
        here = [page for page, root in zip(allowed, roots, strict=True) if path.startswith(root)]
        asked = [page for page in here if page.query.items() <= query.items()]
        current = next(iter(asked or here), None)
        pages = [
            {
                "label": page.label,
                "address": f"{root}?{urlencode(page.query)}" if page.query else root,
                "key": page.key,
                "is_current": page is current,
                "count_name": page.count,
                "count": counts.get(page.count),
            }
            for page, root in zip(allowed, roots, strict=True)
        ]
        if pages:
            yield {
                "label": place.label,
                "icon": place.icon,
                "pages": pages,
                "is_current": current is not None,
                "count": sums.get(place.icon),
            }


def with_sums(counts: Mapping[str, int], *, visit: ProjectVisit) -> dict[str, int]:
    """Return counts by the names of their elements, of pages and places that the visitor sees.

    A place is left out if the count of one of its pages is missing.
    """
    named = {}
    for place in PLACES:
        pages = [page for page in place.pages if page.count and visit.may(page.role)]
        known = {f"page-{page.count}": counts[page.count] for page in pages if page.count in counts}
        if pages and len(known) == len(pages):
            named[place.icon] = sum(known.values())
        named |= known
    return named
