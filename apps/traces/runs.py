"""Recorded runs of traces, where each run of an end user begins, and the queueing of another one."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum

from apps.outbox.enqueue import enqueue
from apps.pipeline.core.draft import Origin
from apps.pipeline.core.enums import ExtractorKind, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, parse
from apps.pipeline.core.policy import MOST_REPEAT_WINDOW
from apps.pipeline.core.turn import SourceTurn
from apps.pipeline.flow import EXTRACTED_WITH
from apps.pipeline.prefilter.conversation import EARLIER_TURN_CHARACTERS
from apps.traces.models import ModelCall, Span, Trace, Turn

ENDED = (TraceStatus.DONE, TraceStatus.REJECTED, TraceStatus.EXTRACTION_FAILED)
_COLUMNS = ("id", "session_id", "configuration_id", "status", "created_at", "finished_at", "reads_again")


@dataclass(frozen=True, slots=True)
class RunHead:
    """An ended trace; `began_at` is as exact as the latencies of its spans, and one that did not run began never."""

    trace_id: UUID
    session_id: UUID
    configuration_id: UUID
    accepted_at: datetime
    began_at: datetime
    ended_at: datetime
    latency_us: int
    extracted_with: UUID  # the first of the traces that shared its model calls
    extractor: str = ""  # that ran; empty where every turn was rejected
    had_model: bool = False  # whether there was a model to ask, however the policy extracts
    is_session_level: bool = False
    reads_again: bool = False


def run_heads(*, end_user_id: UUID, trace_ids: Collection[UUID] | None = None) -> list[RunHead]:
    """Return ended traces in the order of their runs, all of the user or those named.

    A trace that the pre-filter rejected did not run; it stands behind those that were accepted before it.
    """
    traces = Trace.objects.filter(end_user_id=end_user_id, status__in=ENDED)
    if trace_ids is not None:
        traces = traces.filter(id__in=trace_ids)
    rows = list(traces.order_by("created_at", "id").values(*_COLUMNS))
    spans = Span.objects.filter(end_user_id=end_user_id).exclude(stage=Stage.PRE_FILTER).order_by()
    latencies = dict(spans.values_list("trace_id").annotate(sum=Sum("latency_us")))
    told = spans.filter(stage=Stage.EXTRACT).values(
        "trace_id", "details__extractor", "details__configured", f"details__{EXTRACTED_WITH}"
    )
    extractions = {row["trace_id"]: row for row in told}
    with_turns = set(
        Turn.objects.filter(end_user_id=end_user_id).order_by().values_list("trace_id", flat=True).distinct()
    )
    heads: list[RunHead] = []
    latest: datetime | None = None
    for row in rows:
        if row["status"] == TraceStatus.REJECTED:
            ended_at = latest or row["created_at"]
        else:
            ended_at = row["finished_at"]
            latest = max(latest or ended_at, ended_at)
        latency_us, told = latencies.get(row["id"], 0), extractions.get(row["id"], {})
        first, ran = told.get(f"details__{EXTRACTED_WITH}"), told.get("details__extractor") or ""
        head = RunHead(
            trace_id=row["id"],
            session_id=row["session_id"],
            configuration_id=row["configuration_id"],
            accepted_at=row["created_at"],
            began_at=ended_at - timedelta(microseconds=latency_us),
            ended_at=ended_at,
            latency_us=latency_us,
            extracted_with=parse(Prefix.TRACE, first) if first else row["id"],
            extractor=ran,
            had_model=ran not in ("", ExtractorKind.PLAIN) or told.get("details__configured") == ran,
            is_session_level=row["id"] not in with_turns,
            reads_again=row["reads_again"],
        )
        heads.append(head)
    return sorted(heads, key=lambda head: head.ended_at)


def batches_of(heads: Sequence[RunHead]) -> list[list[RunHead]]:
    """Return runs in groups of those that shared model calls."""
    return [list(group) for _, group in groupby(heads, key=lambda head: head.extracted_with)]


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn with its trace and what the pre-filter has made of it."""

    said: SourceTurn
    trace_id: UUID
    rejected_for: str
    withdrawn_at: datetime | None = None  # when its trace was rolled back; later runs have not seen it

    def is_there(self, moment: datetime) -> bool:
        """Return True if a run that began then was shown the turn."""
        return self.withdrawn_at is None or moment < self.withdrawn_at


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """An ended trace with everything that it was made from."""

    head: RunHead
    origin: Origin
    topic: str
    metadata: Mapping[str, Any]
    turns: tuple[StoredTurn, ...]
    judged_after: tuple[SourceTurn, ...]  # the earlier turns that the pre-filter has read
    said_before: tuple[SourceTurn, ...]  # the earlier turns of the session, oldest first
    operations: Sequence[Mapping[str, Any]]
    outcomes: Sequence[Mapping[str, Any]]
    error: str
    calls: tuple[ModelCall, ...]

    @property
    def rejected(self) -> dict[UUID, str]:
        """Return the turns that the pre-filter has dropped, with its reasons."""
        return {turn.said.id: turn.rejected_for for turn in self.turns if turn.rejected_for}


def recorded_runs(*, end_user_id: UUID, heads: Sequence[RunHead], before: int) -> list[RecordedRun]:
    """Read traces of one end user with up to `before` earlier turns of their sessions, in the order given."""
    ids = [head.trace_id for head in heads]
    rows = {row.id: row for row in Trace.objects.filter(end_user_id=end_user_id, id__in=ids)}
    calls: defaultdict[UUID, list[ModelCall]] = defaultdict(list)
    for call in ModelCall.objects.filter(end_user_id=end_user_id, trace_id__in=ids).order_by("created_at", "id"):
        calls[call.trace_id].append(call)
    sessions = _sessions(end_user_id, heads, rows, before)
    runs = []
    for head in heads:
        row, session = rows[head.trace_id], sessions[head.session_id]
        turns = session.of(row.id) or session.until(head, row.counts.get("turns", 0))
        run = RecordedRun(
            head=head,
            origin=row.origin(),
            topic=row.topic,
            metadata=row.metadata,
            turns=turns,
            judged_after=session.judged_after(turns, at=head.accepted_at) if turns else (),
            said_before=session.before(turns[0].said.position, at=head.began_at) if turns else (),
            operations=row.plan,
            outcomes=row.outcomes,
            error=row.error,
            calls=tuple(calls[head.trace_id]),
        )
        runs.append(run)
    return runs


class _SessionTurns:
    """The turns of a session that some runs need, by position and by the caller's ids."""

    def __init__(self, turns: Sequence[StoredTurn]) -> None:
        self._turns = sorted(turns, key=lambda turn: turn.said.position)
        self._by_external_id: defaultdict[str, list[StoredTurn]] = defaultdict(list)
        for turn in self._turns:
            self._by_external_id[turn.said.external_id].append(turn)

    def of(self, trace_id: UUID) -> tuple[StoredTurn, ...]:
        """Return the turns of a trace."""
        return tuple(turn for turn in self._turns if turn.trace_id == trace_id)

    def until(self, head: RunHead, count: int) -> tuple[StoredTurn, ...]:
        """Return the latest turns at the time of a session-level extraction."""
        there = [
            turn for turn in self._turns if turn.said.received_at <= head.began_at and turn.is_there(head.began_at)
        ]
        return tuple(there[-count:]) if count else ()

    def before(self, position: int, *, at: datetime) -> tuple[SourceTurn, ...]:
        """Return what was said before a position and not rolled back by then."""
        return tuple(turn.said for turn in self._turns if turn.said.position < position and turn.is_there(at))

    def judged_after(self, turns: Sequence[StoredTurn], *, at: datetime) -> tuple[SourceTurn, ...]:
        """Return the turns just before these, and earlier ones with the same ids, cut as intake cuts them."""
        first = turns[0].said.position
        near = [said for said in self.before(first, at=at) if said.position >= first - MOST_REPEAT_WINDOW]
        same = (each for turn in turns if turn.said.external_id for each in self._by_external_id[turn.said.external_id])
        repeated = [each.said for each in same if each.said.position < first and each.is_there(at)]
        found = {said.id: said for said in (*near, *repeated)}.values()
        cut = (replace(said, content=said.content[:EARLIER_TURN_CHARACTERS]) for said in found)
        return tuple(sorted(cut, key=lambda said: said.position))


def _sessions(
    end_user_id: UUID, heads: Sequence[RunHead], rows: Mapping[UUID, Trace], before: int
) -> dict[UUID, _SessionTurns]:
    """Read the turns of the traces with those before them, three queries for all sessions."""
    turns = Turn.objects.filter(end_user_id=end_user_id)
    wanted = Q(trace_id__in=[head.trace_id for head in heads])
    places: defaultdict[UUID, list[int]] = defaultdict(list)  # by session: of the turns that runs are about
    for session_id, position in turns.filter(wanted).order_by().values_list("session_id", "position"):
        places[session_id].append(position)
    for head in (head for head in heads if head.is_session_level):
        until = turns.filter(session_id=head.session_id, received_at__lte=head.began_at).order_by("-position")
        last = until.values_list("position", flat=True).first()
        count = rows[head.trace_id].counts.get("turns", 0)
        if last is not None and count:
            places[head.session_id] += range(max(0, last - count + 1), last + 1)
    for session_id, positions in places.items():
        first = min(positions) - max(before, MOST_REPEAT_WINDOW)
        wanted |= Q(session_id=session_id, position__gte=first, position__lte=max(positions))
    found = {turn.said.id: (session_id, turn) for session_id, turn in _read(turns.filter(wanted))}
    named = {turn.said.external_id for _, turn in found.values()} - {""}
    if named:
        sessions = {head.session_id for head in heads}
        same = turns.filter(session_id__in=sessions, external_id__in=named).exclude(id__in=found)
        found |= {turn.said.id: (session_id, turn) for session_id, turn in _read(same)}
    by_session: defaultdict[UUID, list[StoredTurn]] = defaultdict(list)
    for session_id, turn in found.values():
        by_session[session_id].append(turn)
    return {head.session_id: _SessionTurns(by_session[head.session_id]) for head in heads}


def _read(turns: QuerySet[Turn]) -> Iterator[tuple[UUID, StoredTurn]]:
    """Yield turns with their sessions."""
    for row in turns.annotate(ended_at=F("trace__finished_at")).order_by():
        yield (
            row.session_id,
            StoredTurn(row.as_source(), row.trace_id, row.rejected_for, row.ended_at if row.withdrawn else None),
        )


def queue_trace(trace: Trace) -> None:
    """Leave a trace to a worker, in the caller's transaction."""
    has_turns = Turn.objects.filter(end_user_id=trace.end_user_id, trace=trace).exists()
    enqueue(
        end_user_id=trace.end_user_id,
        project_id=trace.project_id,
        kind=trace.work_kind(has_turns=has_turns),
        subject_ids=[trace.id],
        session_id=trace.session_id,
    )
