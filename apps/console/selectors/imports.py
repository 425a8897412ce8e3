"""An import as its page shows it."""

from apps.console.labels import label
from apps.console.selectors.charts import CountTile
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
    first = [CountTile(text, row.done[name]) for name, text in named.items() if name in row.done]
    rows = sorted(name for name in row.done if name not in named and name != "requests")  # of an exported project
    return [*first, *(CountTile(label(name).capitalize(), row.done[name]) for name in rows)]


def dropped_by_reason(row: FileImport) -> list[tuple[str, int]]:
    """Return for which reasons the pre-filter would drop turns, the most frequent one first."""
    reasons: dict[str, int] = row.counts.get("dropped_by_reason", {})
    return sorted(reasons.items(), key=lambda each: -each[1])
