"""A recorded run as a draft, as it leaves the pre-filter of a policy."""

from collections.abc import Mapping
from dataclasses import replace
from uuid import UUID

from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Request
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.prefilter.context_marker import without_context_blocks
from apps.traces.recorded_runs import RecordedRun


def judged_run(run: RecordedRun, *, policy: Policy) -> Draft:
    """Judge the turns of a run as intake does."""
    turns = tuple(turn.said for turn in run.turns)
    request = Request(run.head.trace_id, run.origin, turns, run.judged_after, run.topic, run.metadata)
    return flow.screen(Draft.start(request=request, policy=policy))


def screened_run(run: RecordedRun, *, policy: Policy) -> Draft:
    """Judge the turns of a run, then show them as the worker loads them."""
    judged = judged_run(run, policy=policy)
    before = run.said_before[-policy.extraction.max_turns :]
    draft = Draft.start(request=replace(judged.request, earlier_turns=before), policy=policy).drop(*judged.drops)
    return draft.evolve(turns=tuple(map(_own, draft.turns)))


def session_draft(run: RecordedRun, *, policy: Policy, rejected: Mapping[UUID, bool]) -> Draft:
    """Show the turns of a session-level run; `rejected` tells of turns that were replayed whether they were dropped."""
    turns = tuple(_own(turn.said) for turn in run.turns)
    request = Request(run.head.trace_id, run.origin, turns)
    recorded = run.rejected
    dropped = {turn.id for turn in turns if rejected.get(turn.id, turn.id in recorded)}
    trusted = policy.pre_filter.trusted_roles
    usable = tuple(turn for turn in turns if turn.role in trusted and turn.id not in dropped)
    return Draft(request=request, policy=policy, turns=usable)


def _own(turn: SourceTurn) -> SourceTurn:
    return replace(turn, content=without_context_blocks(turn.content))
