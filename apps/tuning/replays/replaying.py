"""Replay the traces of one end user from a past state, with recorded answers."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import msgspec

from apps.memories.reading.in_memory_store import InMemoryStore
from apps.memories.reading.memory_state import MemoryState
from apps.memories.reading.past import PastChange, past_changes
from apps.pipeline import flow
from apps.pipeline.core.draft import Draft, Request
from apps.pipeline.core.enums import ExtractorKind, SpanResult
from apps.pipeline.core.model_calls import (
    AnswerKind,
    FailureKind,
    ModelAnswer,
    ModelFailed,
    ModelRequest,
    StopReason,
    Usage,
)
from apps.pipeline.core.operations import AddEntity, AddMemory, EnqueueWork
from apps.pipeline.core.plan import WritePlan, plan_from
from apps.pipeline.core.policy import Policy
from apps.pipeline.core.ports import Embedder, Model, Ports, StalePlan
from apps.providers.entries import reliability_of
from apps.traces.drafts import screened_draft, trusted_draft
from apps.traces.models import ModelCall, ReplayedState
from apps.traces.policies import policy_of
from apps.traces.recorder import call_rows, operations_json
from apps.traces.runs import RecordedRun, RunHead, batches_of, recorded_runs
from apps.traces.trace_report import report_of
from apps.tuning.replays.differences import Difference, RunResult, diff_of, recorded_names, totals_of, with_names

_RANDOM_BITS = 62


@dataclass(slots=True)
class FrozenClock:
    """The time at which the replayed trace ran."""

    moment: datetime

    def now(self) -> datetime:
        """Return it."""
        return self.moment


@dataclass(slots=True)
class FrozenIds:
    """Identifiers (UUIDv7) that follow from a seed and the clock, in the order in which they are made."""

    clock: FrozenClock
    seed: UUID
    _made: int = field(default=0)

    def new(self) -> UUID:
        """Return the next identifier."""
        self._made += 1
        milliseconds = int(self.clock.now().timestamp() * 1_000)
        digest = hashlib.blake2b(self.seed.bytes + self._made.to_bytes(8, "big"), digest_size=8).digest()
        random = int.from_bytes(digest, "big") >> (64 - _RANDOM_BITS)
        return UUID(int=milliseconds << 80 | 0x7 << 76 | (self._made & 0xFFF) << 64 | 0b10 << 62 | random)


class PastState:
    """An in-memory store that is moved forward in time; changes of `left_out` traces are only made when asked for."""

    def __init__(
        self, *, end_user_id: UUID, store: InMemoryStore, embedder: Embedder, left_out: Collection[UUID] = ()
    ) -> None:
        self._end_user_id, self._store, self._embedder = end_user_id, store, embedder
        self._coming: list[PastChange] = []  # the latest first
        self._left_out: dict[UUID, list[PastChange]] = {trace_id: [] for trace_id in left_out}
        self._not_indexed: list[tuple[datetime, UUID]] = []
        for change in reversed(past_changes(end_user_id=end_user_id)):
            if change.trace_id in self._left_out:
                self._left_out[change.trace_id].insert(0, change)
            else:
                self._coming.append(change)

    def move_to(self, moment: datetime, *, without: Collection[UUID] = ()) -> None:
        """Make the changes that were written until a moment; those of traces in `without` wait for the next call."""
        waiting = []
        while self._coming and self._coming[-1].at <= moment:
            change = self._coming.pop()
            if change.trace_id in without:
                waiting.append(change)
            else:
                self._make(change)
        self._coming += reversed(waiting)

    def make_recorded(self, trace_id: UUID) -> None:
        """Make the changes that a trace has made when it ran, in place of a replay of it."""
        for change in self._left_out.get(trace_id, ()):
            self._make(change)

    def owe_vectors(self, memory_ids: Collection[UUID], *, since: datetime) -> None:
        """Note memories that have a new content since a moment."""
        self._not_indexed += [(since, memory_id) for memory_id in memory_ids]

    def index(self, *, accepted_at: datetime) -> None:
        """Compute the vectors that were owed before a request was accepted: work is done in this order."""
        state = self._store.state(end_user_id=self._end_user_id)
        due = dict.fromkeys(each for since, each in self._not_indexed if since < accepted_at and each in state.memories)
        self._not_indexed = [each for each in self._not_indexed if each[0] >= accepted_at]
        vectors = self._embedder.embed([state.memories[each].memory.content for each in due]) if due else []
        for memory_id, vector in zip(due, vectors, strict=True):
            self._store.put_vector(
                end_user_id=self._end_user_id, memory_id=memory_id, embedder=self._embedder.name, vector=vector
            )

    def _make(self, change: PastChange) -> None:
        state = self._store.state(end_user_id=self._end_user_id)
        with suppress(KeyError):  # the state has not what the change is about, since a replay wrote something else
            self._store.put(end_user_id=self._end_user_id, state=change.apply(state))
        if change.new_content_of is not None:
            self._not_indexed.append((change.at, change.new_content_of))


_STOPS = {AnswerKind.TRUNCATED: StopReason.TRUNCATED, AnswerKind.REFUSED: StopReason.REFUSED}


class ReplayMiss(Exception):
    """A prompt has no recorded answer, and no live call was allowed; or the run can't be asked about again."""


class RecordedAnswers:
    """The recorded answers of one end user, by what was asked."""

    def __init__(self, *, end_user_id: UUID, live: Model | None) -> None:
        self._end_user_id, self._live = end_user_id, live
        self._calls: dict[str, ModelCall] = {}

    def learn(self, calls: Iterable[ModelCall]) -> None:
        """Take the answers of traces that are replayed next, in place of those of former ones.

        Of several calls of one prompt an answered one counts.
        """
        self._calls = {}
        for call in sorted(calls, key=_is_answered, reverse=True):
            self._calls.setdefault(call.request_hash, call)

    def complete(self, request: ModelRequest) -> ModelAnswer:
        """Answer a request. Raises ModelFailed where the recorded call failed, ReplayMiss."""
        call = self._calls.get(request.hash)
        if call is None:  # another trace of the end user may have asked the same
            calls = ModelCall.objects.filter(end_user_id=self._end_user_id, request_hash=request.hash)
            call = calls.order_by("error", "created_at").first()
        if call is None and self._live is not None:
            return self._live.complete(request)
        if call is None:
            raise ReplayMiss(f"the prompt of {request.purpose} ({request.prompt_version}) was never asked before")
        if not _is_answered(call):
            raise ModelFailed(call.error, kind=FailureKind.REFUSED, model=call.model, latency_us=call.latency_us)
        kind = AnswerKind(call.answer_kind) if call.answer_kind else None
        return ModelAnswer(
            text=call.answer,
            model=call.model,
            usage=Usage(call.input_tokens, call.cache_read_tokens, call.cache_write_tokens, call.output_tokens),
            stop=_STOPS.get(kind, StopReason.END) if kind else StopReason.END,
            latency_us=call.latency_us,
            cost_usd=call.cost_usd,
            reliability=reliability_of(request.model),
        )


def _is_answered(call: ModelCall) -> bool:
    return not call.error or bool(call.answer_kind)


def judged_run(run: RecordedRun, *, policy: Policy) -> Draft:
    """Judge the turns of a run as intake does."""
    turns = tuple(turn.said for turn in run.turns)
    request = Request(run.head.trace_id, run.origin, turns, run.judged_after, run.topic, run.metadata)
    return flow.screen(Draft.start(request=request, policy=policy))


CHUNK_BATCHES = 25  # read together
MOST_SHOWN_TURNS = 100  # the most that any policy shows a model


@dataclass(frozen=True, slots=True)
class ReplayedRun:
    """What became of one trace: its difference, or why there is none."""

    head: RunHead
    state: ReplayedState
    diff: Difference = field(default_factory=dict)
    totals: dict[str, Any] = field(default_factory=dict)
    error: str = ""


class UserReplay:
    """Replays traces of one end user, each after those before it, or from its own past state if `is_isolated`.

    Without a policy each runs under its own. The `live` model is asked where a prompt has no recorded answer.
    """

    def __init__(
        self,
        *,
        end_user_id: UUID,
        heads: Sequence[RunHead],
        embedder: Embedder,
        policy: Policy | None = None,
        is_isolated: bool = False,
        live: Model | None = None,
    ) -> None:
        self._end_user_id, self._heads = end_user_id, heads
        self._policy, self._is_isolated, self._live = policy, is_isolated, live
        self._clock = FrozenClock(heads[0].began_at)
        self._store = InMemoryStore(now=self._clock.now)
        left_out = () if is_isolated else [head.trace_id for head in heads]
        self._past = PastState(end_user_id=end_user_id, store=self._store, embedder=embedder, left_out=left_out)
        self._answers = RecordedAnswers(end_user_id=end_user_id, live=live)
        self._had_model = any(head.had_model for head in heads)
        self._rejected: dict[UUID, bool] = {}
        ids = FrozenIds(self._clock, seed=end_user_id)
        self._ports = Ports(self._clock.now, ids.new, embedder, self._store, self._store, model=self._answers)

    @property
    def state(self) -> MemoryState:
        """Return the memories as the replay has left them so far."""
        return self._store.state(end_user_id=self._end_user_id)

    def run(self) -> Iterator[ReplayedRun]:
        """Replay the traces and yield what became of each. Raises nothing for a trace that can't be replayed."""
        batches = batches_of(self._heads)
        for start in range(0, len(batches), CHUNK_BATCHES):
            chunk = batches[start : start + CHUNK_BATCHES]
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
        drafts: dict[UUID, Draft] = {}
        for run in batch:
            policy = self._policy or policy_of(run.head.configuration_id)
            if run.head.is_session_level:
                turns, rejected = tuple(turn.said for turn in run.turns), run.rejected
                # Of turns that were replayed, the replay tells whether they were dropped.
                dropped = {turn.id for turn in turns if self._rejected.get(turn.id, turn.id in rejected)}
                draft = trusted_draft(Request(run.head.trace_id, run.origin, turns), policy=policy, rejected=dropped)
            else:  # judged as intake does, then shown as the worker loads it
                judged = judged_run(run, policy=policy)
                request = replace(judged.request, earlier_turns=run.said_before[-policy.extraction.max_turns :])
                draft = screened_draft(request, policy=policy, drops=judged.drops)
                kept = {turn.id for turn in draft.turns}
                self._rejected |= {turn.said.id: turn.said.id not in kept for turn in run.turns}
            drafts[run.head.trace_id] = draft
        failed: Exception | None = None
        try:
            drafts |= self._extracted(first, list(drafts.values()))
        except (ReplayMiss, ModelFailed) as error:
            failed = error
        names: dict[UUID, UUID] = {}
        for run in batch:
            if not self._is_isolated:
                self._past.move_to(run.head.ended_at)
            self._clock.moment = run.head.ended_at
            yield self._not_replayed(run, failed) if failed else self._settled(run, drafts, names)
        if self._is_isolated:
            self._store.put(end_user_id=self._end_user_id, state=recorded)

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
        is_asked = had_model or self._live is not None
        return self._ports if is_asked else replace(self._ports, model=None)

    def _settled(self, run: RecordedRun, drafts: dict[UUID, Draft], names: dict[UUID, UUID]) -> ReplayedRun:
        """Settle one draft on what is known by now, and keep what it plans in memory."""
        settled, plan = drafts[run.head.trace_id], WritePlan()
        try:
            if not settled.failure:
                settled = flow.settle(with_names(settled, names), self._ports_for(run.head))
                plan = plan_from(settled)
                added = WritePlan((*plan.of(AddEntity), *plan.of(AddMemory)))
                if added.operations:  # what was added before has the recorded identifiers
                    names |= recorded_names(_as_json(operations_json(added)), run.operations)
                settled = with_names(settled, names)
                plan = plan_from(settled)
            self._store.apply(draft=settled, plan=plan)
        except (ReplayMiss, ModelFailed, StalePlan) as error:
            return self._not_replayed(run, error)
        changed = [operation.memory_id for operation in plan.of(EnqueueWork)]
        self._past.owe_vectors(changed, since=run.head.ended_at)
        dropped = {} if run.head.is_session_level else {str(turn): reason for turn, reason in run.rejected.items()}
        recorded = RunResult(
            rejected=dropped,
            outcomes=run.outcomes,
            operations=run.operations,
            failure=run.error,
            effort=_effort(run.calls, run.head.latency_us),
        )
        # Answers that were recorded took the time that they took then.
        calls = call_rows(settled.model_calls, end_user_id=self._end_user_id, trace_id=run.head.trace_id)
        waited = sum(call.latency_us for call in calls)
        ran = sum(span.latency_us for span in settled.spans if span.result is not SpanResult.ERROR)
        replayed = RunResult(
            rejected={str(drop.turn_id): str(drop.reason) for drop in settled.drops if drop.stage == "pre_filter"},
            outcomes=_as_json(report_of(settled).outcomes),
            operations=_as_json(operations_json(plan)),
            failure=settled.failure,
            effort=_effort(calls, waited + ran),
        )
        diff = diff_of(recorded=recorded, replayed=replayed)
        totals = totals_of(diff, before=recorded.effort, after=replayed.effort)
        return ReplayedRun(run.head, ReplayedState.DIFFERENT if diff else ReplayedState.SAME, diff, totals)

    def _not_replayed(self, run: RecordedRun, error: Exception) -> ReplayedRun:
        """Keep what the run has written in the record, so that later runs find it."""
        self._past.make_recorded(run.head.trace_id)
        state = ReplayedState.MISSED if isinstance(error, ReplayMiss) else ReplayedState.FAILED
        return ReplayedRun(run.head, state, error=str(error))


def _effort(calls: Sequence[ModelCall], latency_us: int) -> dict[str, Any]:
    """Return what a run took; money is text."""
    cost = sum((call.cost_usd for call in calls), start=Decimal(0))
    tokens = sum(
        call.input_tokens + call.cache_read_tokens + call.cache_write_tokens + call.output_tokens for call in calls
    )
    return {"calls": len(calls), "tokens": tokens, "cost_usd": str(cost), "latency_us": latency_us}


def _as_json(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))
