"""A replay as its page shows it: sums, and the traces that differ with their turns and memories."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from apps.console.charts import CountTile
from apps.memories.models import Memory
from apps.traces.models import Replay, ReplayedState, ReplayedTrace, Turn

_TILES = (
    ("Turns newly dropped", "turns_dropped"),
    ("Turns newly kept", "turns_kept"),
    ("Memories newly stored", "memories_added"),
    ("Memories no longer stored", "memories_removed"),
    ("Memories stored differently", "memories_changed"),
    ("Memories newly superseded", "superseded_added"),
    ("Memories no longer superseded", "superseded_removed"),
    ("New links", "links_added"),
    ("Links no longer made", "links_removed"),
)
_EFFORTS = (("Model calls", "calls"), ("Tokens", "tokens"), ("Cost in USD", "cost_usd"))
SHOWN_STATES = (ReplayedState.DIFFERENT, ReplayedState.SAME, ReplayedState.MISSED, ReplayedState.FAILED)

# What an operation means to people; those that are not listed follow from others.
_OPERATIONS = {
    "AddMemory": "memory",
    "MergeInto": "merged into a known memory",
    "SupersedeMemory": "superseded",
    "ReviseMemory": "absorbed",
    "LinkMemories": "link",
    "FlagForReview": "for review",
    "AddEntity": "entity",
    "RenameEntity": "name of an entity",
    "ReassignAlias": "description of an entity",
}


@dataclass(frozen=True, slots=True)
class ShownTrace:
    """One trace with its differences, in JSON: with the texts of turns, and with the memories that exist."""

    row: ReplayedTrace
    verdicts: Sequence[Mapping[str, Any]]
    operations: Sequence[Mapping[str, Any]]
    discards: Sequence[Mapping[str, Any]]


def tiles_of(replay: Replay) -> list[CountTile]:
    """Return the counts of the differences, those that are not 0 and the most important ones."""
    counts = [CountTile(label, int(replay.totals.get(name, 0))) for label, name in _TILES]
    return [tile for place, tile in enumerate(counts) if tile.count or place < 5]


def efforts_of(replay: Replay) -> list[tuple[str, Any, Any]]:
    """Return what is counted of model calls, tokens and costs, in the records and in the replay."""
    sums = replay.totals
    rows = [(label, sums.get(f"{name}_before", 0), sums.get(f"{name}_after", 0)) for label, name in _EFFORTS]
    return [row for row in rows if row[1] or row[2]]


def traces_of(replay: Replay, *, state: str) -> QuerySet[ReplayedTrace]:
    """Return the traces of a replay in one state, by end user in the order of their runs."""
    rows = ReplayedTrace.objects.filter(replay=replay, state=state).select_related("end_user", "trace")
    return rows.order_by("end_user_id", "position")


def shown_traces(rows: Sequence[ReplayedTrace]) -> list[ShownTrace]:
    """Read the turns and the existing memories that differences name, two queries for all."""
    users = {row.end_user_id for row in rows}
    turn_ids = {each["turn_id"] for row in rows for each in row.diff.get("turns", ())}
    ids = {each["object_id"] for row in rows for each in row.diff.get("operations", ())}
    turns = dict(Turn.objects.filter(end_user_id__in=users, id__in=turn_ids).values_list("id", "content"))
    known = dict(Memory.objects.filter(end_user_id__in=users, id__in=ids).values_list("id", "content"))
    shown = []
    for row in rows:
        verdicts = [{**each, "content": turns.get(UUID(each["turn_id"]), "")} for each in row.diff.get("turns", ())]
        made = [each for each in row.diff.get("operations", ()) if each["operation"] in _OPERATIONS]
        operations = [_operation(each, known) for each in made]
        shown.append(ShownTrace(row, verdicts, operations, row.diff.get("discards", ())))
    return shown


def _operation(change: Mapping[str, Any], known: Mapping[UUID, str]) -> dict[str, Any]:
    """Return a difference in what is written; `memory_id` is set where the memory exists."""
    object_id = UUID(change["object_id"])
    named = known.get(object_id, "")
    return {
        "kind": change["kind"],
        "what": _OPERATIONS[change["operation"]],
        "before": change["before_content"] or (named if change["kind"] == "removed" else ""),
        "after": change["content"] or (named if change["kind"] == "added" else ""),
        "fields": [each for each in change["fields"] if each["name"] != "candidate.content"],
        "memory_id": object_id if object_id in known else None,
    }
