"""The ended traces of an end user in the order in which they ran, and which of them shared model calls."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import groupby
from typing import Any
from uuid import UUID

from django.db.models import Sum

from apps.pipeline.core.enums import ExtractorKind, Stage, TraceStatus
from apps.pipeline.core.identifiers import Prefix, parse
from apps.pipeline.flow import EXTRACTED_WITH
from apps.traces.models import Span, Trace, Turn

ENDED = (TraceStatus.DONE, TraceStatus.REJECTED, TraceStatus.EXTRACTION_FAILED)
_COLUMNS = ("id", "session_id", "configuration_id", "status", "created_at", "finished_at", "reads_again")


@dataclass(frozen=True, slots=True)
class RunHead:
    """An ended trace; `began_at` is as exact as the latencies of its spans, and one that did not run began never."""

    trace_id: UUID
    session_id: UUID
    configuration_id: UUID
    status: TraceStatus
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
    latencies, extractions = _spans(end_user_id)
    with_turns = set(Turn.objects.filter(end_user_id=end_user_id).order_by().values_list("trace_id").distinct())
    ordered = sorted(_ended(rows), key=lambda each: each[0])
    heads = (_head(row, at, latencies.get(row["id"], 0), extractions.get(row["id"], {})) for at, row in ordered)
    return [replace(head, is_session_level=(head.trace_id,) not in with_turns) for head in heads]


def batches_of(heads: Sequence[RunHead]) -> list[list[RunHead]]:
    """Return runs in groups of those that shared model calls."""
    return [list(group) for _, group in groupby(heads, key=lambda head: head.extracted_with)]


def _ended(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[datetime, Mapping[str, Any]]]:
    """Yield when each trace ended, or for a rejected one when the latest of those before it did."""
    latest: datetime | None = None
    for row in rows:
        if row["status"] == TraceStatus.REJECTED:
            yield latest or row["created_at"], row
            continue
        ended: datetime = row["finished_at"]
        latest = ended if latest is None else max(latest, ended)
        yield ended, row


def _spans(end_user_id: UUID) -> tuple[dict[UUID, int], dict[UUID, Mapping[str, Any]]]:
    """Return, by trace, how long its stages after the pre-filter took, and what its extraction tells of itself."""
    spans = Span.objects.filter(end_user_id=end_user_id).exclude(stage=Stage.PRE_FILTER).order_by()
    latencies = spans.values_list("trace_id").annotate(sum=Sum("latency_us"))
    told = spans.filter(stage=Stage.EXTRACT).values(
        "trace_id", "details__extractor", "details__configured", f"details__{EXTRACTED_WITH}"
    )
    return dict(latencies), {row["trace_id"]: row for row in told}


def _head(row: Mapping[str, Any], ended_at: datetime, latency_us: int, told: Mapping[str, Any]) -> RunHead:
    first, ran = told.get(f"details__{EXTRACTED_WITH}"), told.get("details__extractor") or ""
    return RunHead(
        trace_id=row["id"],
        session_id=row["session_id"],
        configuration_id=row["configuration_id"],
        status=TraceStatus(row["status"]),
        accepted_at=row["created_at"],
        began_at=ended_at - timedelta(microseconds=latency_us),
        ended_at=ended_at,
        latency_us=latency_us,
        extracted_with=parse(Prefix.TRACE, first) if first else row["id"],
        extractor=ran,
        reads_again=row["reads_again"],
        had_model=ran not in ("", ExtractorKind.PLAIN) or told.get("details__configured") == ran,
    )
