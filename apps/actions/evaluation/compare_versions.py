"""Compare configuration versions on the same labelled items: replay their traces under each."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction

from apps.actions.errors import Unfit
from apps.actions.evaluation.comparison import VersionScore, score_of
from apps.actions.evaluation.judged_items import judged_items
from apps.actions.evaluation.read_figures import WEEKS
from apps.actions.replays.choice import TraceChoice
from apps.actions.replays.request_replay import ReplayRequest, request_replay
from apps.actions.replays.start_replay import start_replay
from apps.traces.models import Replay, ReplayedState, ReplayedTrace

MOST_VERSIONS = 4
_REPLAYED = (ReplayedState.SAME, ReplayedState.DIFFERENT)


@dataclass(frozen=True, slots=True)
class ComparisonRequest:
    """Versions to compare, on the items that were labelled in the last weeks."""

    project_id: UUID
    versions: Sequence[int]
    weeks: int = WEEKS
    allows_live_calls: bool = False
    person_id: int | None = None


def compare_versions(*, request: ComparisonRequest) -> list[Replay]:
    """Start one replay for each version, in which each trace begins from its own past state; return the replays.

    With live calls, which cost money, they are only estimated: somebody has to start each of them. Raises Unfit if
    nothing is labelled or too many versions are named, and whatever `request_replay` raises.
    """
    if not 1 <= len(request.versions) <= MOST_VERSIONS:
        raise Unfit(f"name 1 to {MOST_VERSIONS} versions", at="/versions")
    traces = {each.trace_id for each in judged_items(project_id=request.project_id, weeks=request.weeks)}
    if not traces:
        raise Unfit("no memory or turn with a trace is labelled", at="/weeks")
    choice = TraceChoice(trace_ids=tuple(sorted(traces)))
    with transaction.atomic():
        requested = [request_replay(request=_replay_of(request, version, choice)) for version in request.versions]
    if request.allows_live_calls:
        return requested
    return [start_replay(project_id=request.project_id, replay_id=replay.pk) for replay in requested]


def _replay_of(request: ComparisonRequest, version: int, choice: TraceChoice) -> ReplayRequest:
    return ReplayRequest(
        project_id=request.project_id,
        choice=choice,
        version=version,
        is_isolated=True,
        allows_live_calls=request.allows_live_calls,
        person_id=request.person_id,
    )


def score_replay(*, replay: Replay, weeks: int = WEEKS) -> VersionScore:
    """Score the version of a replay on the labelled items whose traces it has; more may have been labelled since."""
    rows = ReplayedTrace.objects.filter(replay=replay).values_list("trace_id", "state", "diff")
    diffs = {trace_id: diff if state in _REPLAYED else None for trace_id, state, diff in rows}
    items = judged_items(project_id=replay.project_id, weeks=weeks)
    return score_of([(each.item, diffs[each.trace_id]) for each in items if each.trace_id in diffs])
