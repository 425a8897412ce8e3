"""How a configuration version does on labelled items, by the replay of their traces."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.actions.evaluation.share import Share, share_of
from apps.pipeline.core.enums import SampleKind

_STORES = ("AddMemory", "MergeInto")


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """A labelled memory or turn; `is_good` as labellers say: the memory is good, the turn contains nothing."""

    kind: SampleKind
    is_good: bool
    object_id: str  # of the memory or turn


class JudgedCase(StrEnum):
    """What a version can do well or badly about an item."""

    GOOD_KEPT = "good memories kept"
    BAD_DROPPED = "bad memories dropped"
    MISSED_FOUND = "missed turns found"
    NOTHING_ADDED = "turns with nothing left alone"


_CASES = {
    (SampleKind.MEMORY, True): JudgedCase.GOOD_KEPT,
    (SampleKind.MEMORY, False): JudgedCase.BAD_DROPPED,
    (SampleKind.TURN, False): JudgedCase.MISSED_FOUND,
    (SampleKind.TURN, True): JudgedCase.NOTHING_ADDED,
}


@dataclass(frozen=True, slots=True)
class VersionScore:
    """The shares of the items that a version treats as labellers would, and how many items were not replayed."""

    shares: Mapping[JudgedCase, Share]
    not_replayed: int


def score_of(judged: Sequence[tuple[JudgedItem, Mapping[str, Any] | None]]) -> VersionScore:
    """Score items with the diffs of their replayed traces, as JSON; None where the trace was not replayed."""
    right = dict.fromkeys(JudgedCase, 0)
    whole = dict.fromkeys(JudgedCase, 0)
    for item, diff in judged:
        if diff is not None:
            case = _CASES[item.kind, item.is_good]
            whole[case] += 1
            right[case] += _is_right(item, diff)
    shares = {case: share_of(part=right[case], whole=whole[case]) for case in JudgedCase}
    return VersionScore(shares, not_replayed=sum(diff is None for _, diff in judged))


def _is_right(item: JudgedItem, diff: Mapping[str, Any]) -> bool:
    operations = diff.get("operations", ())
    if item.kind is SampleKind.MEMORY:
        return item.is_good is not any(_drops(each, item.object_id) for each in operations)
    return item.is_good is not any(_states(each, item.object_id) for each in operations)


def _drops(change: Mapping[str, Any], memory_id: str) -> bool:
    """Return True if a memory is not stored any more, or is stored but not shown to agents."""
    if change["operation"] != "AddMemory" or change["object_id"] != memory_id:
        return False
    hidden = any(each["name"] == "status" and each["after"] != "active" for each in change["fields"])
    return bool(change["kind"] == "removed" or hidden)


def _states(change: Mapping[str, Any], turn_id: str) -> bool:
    """Return True if a turn newly gives a memory."""
    is_new = change["kind"] == "added" and change["operation"] in _STORES
    return is_new and turn_id in change.get("turn_ids", ())
