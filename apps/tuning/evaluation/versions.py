"""Compare versions of the settings by labels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Coalesce

from apps.common.errors import Unfit
from apps.memories.models import EvaluationItem
from apps.pipeline.core.enums import SampleKind
from apps.traces.models import Replay, ReplayedState, ReplayedTrace
from apps.tuning.evaluation.figures import (
    WEEKS,
    LabelledWeeks,
    Share,
    labelled_weeks,
    share_of,
)
from apps.tuning.replays.services import TraceChoice, request_replay, start_replay

_STORES = ("AddMemory", "MergeInto")


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


def score_of(judged: Sequence[tuple[EvaluationItem, Mapping[str, Any] | None]]) -> VersionScore:
    """Score items with the diffs of their replayed traces, as JSON; None where the trace was not replayed."""
    right = dict.fromkeys(JudgedCase, 0)
    whole = dict.fromkeys(JudgedCase, 0)
    for item, diff in judged:
        if diff is None:
            continue
        object_id, differs = str(item.object_id), False
        for change in diff.get("operations", ()):
            if item.kind is SampleKind.TURN:  # it newly gives a memory
                is_new = change["kind"] == "added" and change["operation"] in _STORES
                differs = differs or (is_new and object_id in change.get("turn_ids", ()))
            elif change["operation"] == "AddMemory" and change["object_id"] == object_id:
                # The memory is not stored any more, or is stored but not shown to agents.
                hidden = any(each["name"] == "status" and each["after"] != "active" for each in change["fields"])
                differs = differs or hidden or change["kind"] == "removed"
        case = _CASES[item.kind, bool(item.is_good)]
        whole[case] += 1
        right[case] += item.is_good is not differs
    shares = {case: share_of(part=right[case], whole=whole[case]) for case in JudgedCase}
    return VersionScore(shares, not_replayed=sum(diff is None for _, diff in judged))


MOST_COMPARED = 4
_REPLAYED = (ReplayedState.SAME, ReplayedState.DIFFERENT)


def judged_items(*, project_id: UUID) -> list[tuple[EvaluationItem, UUID]]:
    """Return the items of the last weeks that labellers could judge, with their traces.

    Memories that callers stored directly have none, and are left out.
    """
    found = labelled_weeks(weeks=WEEKS, project_id=project_id).get(project_id, LabelledWeeks())
    judged = [each for each in found.items if each.is_good is not None]
    rows = EvaluationItem.objects.filter(pk__in=[each.pk for each in judged])
    traces = dict(rows.values_list("pk", Coalesce("memory__trace_id", "turn__trace_id")))
    return [(each, traces[each.pk]) for each in judged if traces[each.pk]]


def compare_versions(*, project_id: UUID, versions: Sequence[int], allows_live_calls: bool = False) -> list[Replay]:
    """Start one replay of the labelled traces for each version; return the replays.

    In them each trace begins from its own past state. With live calls, which cost money, they are only
    estimated: somebody has to start each of them. Raises Unfit if nothing is labelled or too many versions are named,
    and whatever `request_replay` raises.
    """
    if not 1 <= len(versions) <= MOST_COMPARED:
        raise Unfit(f"name 1 to {MOST_COMPARED} versions", at="/versions")
    traces = {trace_id for _, trace_id in judged_items(project_id=project_id)}
    if not traces:
        raise Unfit("no memory or turn with a trace is labelled", at="/versions")
    choice = TraceChoice(trace_ids=tuple(sorted(traces)))
    with transaction.atomic():
        requested = [
            request_replay(
                project_id=project_id,
                choice=choice,
                version=version,
                is_isolated=True,
                allows_live_calls=allows_live_calls,
            )
            for version in versions
        ]
    if allows_live_calls:
        return requested
    return [start_replay(project_id=project_id, replay_id=replay.pk) for replay in requested]


def score_replay(*, replay: Replay) -> VersionScore:
    """Score the version of a replay on the labelled items whose traces it has; more may have been labelled since."""
    rows = ReplayedTrace.objects.filter(replay=replay).values_list("trace_id", "state", "diff")
    diffs = {trace_id: diff if state in _REPLAYED else None for trace_id, state, diff in rows}
    judged = judged_items(project_id=replay.project_id)
    return score_of([(item, diffs[trace_id]) for item, trace_id in judged if trace_id in diffs])
