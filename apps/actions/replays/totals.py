"""The sum of the differences of all replayed traces."""

from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from apps.actions.replays.trace_diff import TraceDiff

# What an operation is counted as.
_COUNTED = {
    "AddMemory": "memories",
    "MergeInto": "merged",
    "SupersedeMemory": "superseded",
    "LinkMemories": "links",
    "AddEntity": "entities",
    "FlagForReview": "reviews",
}
_EFFORT = ("calls", "tokens", "cost_usd", "latency_us")


def totals_of(diff: TraceDiff) -> dict[str, Any]:
    """Return the counts of one trace's diff, JSON-ready: 0 is left out, money is text."""
    counts: Counter[str] = Counter()
    counts["same" if diff.is_empty else "different"] = 1
    counts["turns_dropped"] = sum(not turn.before for turn in diff.turns)
    counts["turns_kept"] = sum(not turn.after for turn in diff.turns)
    counts["discards"] = len(diff.discards)
    for change in diff.operations:
        if change.operation in _COUNTED:
            counts[f"{_COUNTED[change.operation]}_{change.kind.value}"] += 1
    totals: dict[str, Any] = {name: count for name, count in counts.items() if count}
    for when, effort in (("before", diff.before), ("after", diff.after)):
        for name in _EFFORT:
            if value := getattr(effort, name):
                totals[f"{name}_{when}"] = str(value) if isinstance(value, Decimal) else value
    return totals


def added_totals(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Add two totals up."""
    return {name: _sum(one.get(name, 0), other.get(name, 0)) for name in dict.fromkeys((*one, *other))}


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, str) or isinstance(other, str):
        return str(Decimal(one) + Decimal(other))
    return one + other
