"""An import as its page shows it."""

from typing import Any

from apps.console.labels import label

_TEXTS = {
    "conversations": "Conversations",
    "turns": "Turns",
    "memories": "Memories",
    "stored": "Memories",
    "merged": "Merged into known ones",
    "users": "Users",
    "dropped": "Pre-filter drops",
    "known": "Imported before",
    "refused": "Refused",
    "problems": "Can't be imported",
}
_ALWAYS = frozenset({"users", "known", "problems"})
_HIDDEN = frozenset({"chunks", "requests", "rows", "dropped_by_reason"})


def count_tiles(found: dict[str, Any]) -> list[tuple[str, int]]:
    """Return what a check has found or what was imported; rows by table for an exported project."""
    named = [
        (text, found[name]) for name, text in _TEXTS.items() if found.get(name) or (name in found and name in _ALWAYS)
    ]
    rows = found.get("rows") or {name: found[name] for name in sorted(found) if name not in _TEXTS.keys() | _HIDDEN}
    return [*named, *((label(kind).capitalize(), count) for kind, count in rows.items())]
