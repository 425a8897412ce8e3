"""Replay traces of one end user in memory, in the order in which they ran; nothing is written."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from uuid import UUID

import msgspec

from apps.actions.replays.frozen import FrozenClock, FrozenIds
from apps.actions.replays.identity import recorded_names, with_names
from apps.actions.replays.past_state import PastState
from apps.actions.replays.recorded_answers import RecordedAnswers, ReplayMiss, tokens_of
from apps.actions.replays.screened_run import screened_run, session_draft
from apps.actions.replays.trace_diff import Effort, RunResult, TraceDiff, diff_of
from apps.memories.reading.in_memory_store import InMemoryStore
from apps.memories.reading.memory_state import MemoryState
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft
from apps.pipeline.core.enums import ExtractorKind, SpanResult
from apps.pipeline.core.model_calls import ModelFailed
from apps.pipeline.core.operations import EnqueueWork
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Embedder, Model, Ports, StalePlan
from apps.traces.models import ReplayedState
from apps.traces.policies import policy_of
from apps.traces.recorded_runs import RecordedRun, recorded_runs
from apps.traces.recorder import operations_json
from apps.traces.run_heads import RunHead, batches_of
from apps.traces.trace_report import report_of

CHUNK_RUNS = 50  # read together
MOST_SHOWN_TURNS = 100  # the most that any policy shows a model


@dataclass(frozen=True, slots=True)
class ReplaySettings:
    """How traces are replayed: under which policy (None: each under its own), and from which state."""

    policy: Policy | None = None
    is_isolated: bool = False
    live: Model | None = None  # asked where a prompt has no recorded answer


@dataclass(frozen=True, slots=True)
class ReplayedRun:
    """What became of one trace: its difference, or why there is none."""

    head: RunHead
    state: ReplayedState
    diff: TraceDiff = field(default=TraceDiff())
    error: str = ""


class UserReplay:
    """Replays traces of one end user, each after those before it."""

    def __init__(
        self, *, end_user_id: UUID, heads: Sequence[RunHead], embedder: Embedder, settings: ReplaySettings
    ) -> None:
        self._end_user_id, self._heads, self._settings = end_user_id, heads, settings
        self._clock = FrozenClock(heads[0].began_at)
        self._store = InMemoryStore(now=self._clock.now)
        left_out = () if settings.is_isolated else [head.trace_id for head in heads]
        self._past = PastState(end_user_id=end_user_id, store=self._store, embedder=embedder, left_out=left_out)
        self._answers = RecordedAnswers(end_user_id=end_user_id, live=settings.live)
        self._had_model = any(head.had_model for head in heads)
        self._rejected: dict[UUID, bool] = {}
        ids = FrozenIds(self._clock, seed=end_user_id)
        self._ports = Ports(self._clock, ids, embedder, self._store, self._store, model=self._answers)

    @property
    def state(self) -> MemoryState:
        """Return the memories as the replay has left them so far."""
        return self._store.state(end_user_id=self._end_user_id)

    def run(self) -> Iterator[ReplayedRun]:
        """Replay the traces and yield what became of each. Raises nothing for a trace that can't be replayed."""
        batches = iter(batches_of(self._heads))
        while chunk := _up_to(batches, CHUNK_RUNS):
            heads = [head for batch in chunk for head in batch]
            runs = recorded_runs(end_user_id=self._end_user_id, heads=heads, before=MOST_SHOWN_TURNS)
            self._answers.learn(call for run in runs for call in run.calls)
            by_id = {run.head.trace_id: run for run in runs}
            for batch in chunk:
                yield from self._replay([by_id[head.trace_id] for head in batch])

    def _replay(self, batch: Sequence[RecordedRun]) -> Iterator[ReplayedRun]:
        """Replay runs that shared model calls."""
        first = batch[0].head
        # When a run began is known by its latencies only, so that its own changes may seem to be older.
        self._past.move_to(first.began_at, without={run.head.trace_id for run in batch})
        self._past.index(accepted_at=first.accepted_at)
        recorded = self.state
        drafts = {run.head.trace_id: self._draft(run) for run in batch}
        failed: Exception | None = None
        try:
            drafts |= self._extracted(first, list(drafts.values()))
        except (ReplayMiss, ModelFailed) as error:
            failed = error
        names: dict[UUID, UUID] = {}
        for run in batch:
            if not self._settings.is_isolated:
                self._past.move_to(run.head.ended_at)
            self._clock.moment = run.head.ended_at
            yield self._not_replayed(run, failed) if failed else self._settled(run, drafts, names)
        if self._settings.is_isolated:
            self._store.put(end_user_id=self._end_user_id, state=recorded)

    def _draft(self, run: RecordedRun) -> Draft:
        policy = self._policy(run)
        if run.head.is_session_level:
            return session_draft(run, policy=policy, rejected=self._rejected)
        draft = screened_run(run, policy=policy)
        kept = {turn.id for turn in draft.turns}
        self._rejected |= {turn.said.id: turn.said.id not in kept for turn in run.turns}
        return draft

    def _policy(self, run: RecordedRun) -> Policy:
        return self._settings.policy or policy_of(run.head.configuration_id)

    def _extracted(self, first: RunHead, drafts: Sequence[Draft]) -> dict[UUID, Draft]:
        """Extract from what the pre-filter has left. Raises ReplayMiss and ModelFailed."""
        asked = [draft for draft in drafts if draft.turns]
        if not asked:
            return {}
        if first.reads_again:  # which notes there were is not recorded
            raise ReplayMiss("a session that was read again is not replayed")
        ports = self._ports_for(first)
        if first.is_session_level:
            by_plain = asked[0].policy.extraction.extractor is ExtractorKind.PLAIN or ports.model is None
            found = [] if by_plain else [flow.extract_session(asked[0], ports)]
        else:
            found = flow.extract(asked, ports)
        return {draft.request.trace_id: draft for draft in found}

    def _ports_for(self, head: RunHead) -> Ports:
        """Return ports without a model for a run that had none to ask, unless live calls are allowed."""
        had_model = head.had_model or (self._had_model and not head.extractor)
        is_asked = had_model or self._settings.live is not None
        return self._ports if is_asked else replace(self._ports, model=None)

    def _settled(self, run: RecordedRun, drafts: dict[UUID, Draft], names: dict[UUID, UUID]) -> ReplayedRun:
        """Settle one draft on what is known by now, and keep what it plans in memory."""
        try:
            settled, plan = self._planned(run, drafts[run.head.trace_id], names)
            self._store.apply(draft=settled, plan=plan)
        except (ReplayMiss, ModelFailed, StalePlan) as error:
            return self._not_replayed(run, error)
        changed = [operation.memory_id for operation in plan.of(EnqueueWork)]
        self._past.owe_vectors(changed, since=run.head.ended_at)
        diff = diff_of(recorded=_recorded(run), replayed=_replayed(settled, plan))
        state = ReplayedState.SAME if diff.is_empty else ReplayedState.DIFFERENT
        return ReplayedRun(run.head, state, diff)

    def _planned(self, run: RecordedRun, draft: Draft, names: dict[UUID, UUID]) -> tuple[Draft, WritePlan]:
        """Return a settled draft and its plan, in which what was added before has the recorded identifiers."""
        if draft.failure:
            return draft, WritePlan()
        settled = flow.settle(with_names(draft, names), self._ports_for(run.head))
        names |= recorded_names(settled, run.operations)
        settled = with_names(settled, names)
        return settled, plan_from(settled)

    def _not_replayed(self, run: RecordedRun, error: Exception) -> ReplayedRun:
        """Keep what the run has written in the record, so that later runs find it."""
        self._past.make_recorded(run.head.trace_id)
        state = ReplayedState.MISSED if isinstance(error, ReplayMiss) else ReplayedState.FAILED
        return ReplayedRun(run.head, state, error=str(error))


def _up_to(batches: Iterator[list[RunHead]], most: int) -> list[list[RunHead]]:
    """Take batches until they hold so many runs."""
    taken: list[list[RunHead]] = []
    while sum(map(len, taken)) < most and (found := list(islice(batches, 1))):
        taken += found
    return taken


def _recorded(run: RecordedRun) -> RunResult:
    tokens, cost = tokens_of(run.calls), sum(call.cost_usd for call in run.calls)
    return RunResult(
        rejected={str(turn): reason for turn, reason in run.rejected.items()} if not run.head.is_session_level else {},
        outcomes=run.outcomes,
        operations=run.operations,
        failure=run.error,
        effort=Effort(len(run.calls), tokens, cost or Effort().cost_usd, run.head.latency_us),
    )


def _replayed(settled: Draft, plan: WritePlan) -> RunResult:
    """Return a result as a trace would keep it; answers that were recorded took the time that they took then."""
    report = report_of(settled)
    calls = settled.model_calls
    waited = sum(call.latency_us for call in calls)
    return RunResult(
        rejected={str(drop.turn_id): str(drop.reason) for drop in settled.drops if drop.stage == "pre_filter"},
        outcomes=msgspec.json.decode(msgspec.json.encode(report.outcomes)),
        operations=msgspec.json.decode(msgspec.json.encode(operations_json(plan))),
        failure=settled.failure,
        effort=Effort(
            len(calls),
            tokens_of(calls),
            sum((call.cost_usd for call in calls), start=Effort().cost_usd),
            waited + sum(span.latency_us for span in settled.spans if span.result is not SpanResult.ERROR),
        ),
    )
