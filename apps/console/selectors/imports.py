"""An import as its page shows it."""

from apps.console.labels import label
from apps.console.selectors.tiles import CountTile
from apps.imports.models import FileImport

_FOUND = (
    ("Conversations", "conversations"),
    ("Turns", "turns"),
    ("Memories", "memories"),
    ("Users", "users"),
    ("Pre-filter drops", "dropped"),
    ("Imported before", "known"),
    ("Can't be imported", "problems"),
)
_DONE = (
    ("Turns", "turns"),
    ("Memories", "stored"),
    ("Merged into known ones", "merged"),
    ("Imported before", "known"),
    ("Refused", "refused"),
)
_ALWAYS = frozenset({"users", "known", "problems"})


def shown_counts(row: FileImport) -> list[CountTile]:
    """Return what the check has found; rows by table for an exported project."""
    counts = row.counts
    found = [CountTile(text, counts.get(name, 0)) for text, name in _FOUND if counts.get(name) or name in _ALWAYS]
    return [*found, *(CountTile(label(kind).capitalize(), count) for kind, count in counts.get("rows", {}).items())]


def shown_report(row: FileImport) -> list[CountTile]:
    """Return what was imported."""
    named = {name: text for text, name in _DONE}
    shown = {name: count for name, count in row.done.items() if name != "requests"}
    return [CountTile(named.get(name, label(name).capitalize()), count) for name, count in shown.items()]
