"""Searching traces, and loading one with all its details."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.db.models.functions import Left
from django.http import HttpRequest

from apps.console.query_params import midnight, next_midnight, query_param
from apps.console.selectors.trace_sentences import ModelCallGroup, group_calls, trace_sentences
from apps.memories.models import Memory, Rollback
from apps.outbox.wait_reasons import WaitReason, find_wait_reason
from apps.pipeline.core.enums import TraceStatus
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, end_user_id, parse
from apps.pipeline.prompts.extract import STATIC, VERSION
from apps.traces.models import ModelCall, Span, Trace, Turn

LATEST = 20_000  # traces of a project in which words and reasons are searched, unless a user narrows them
MAX_WORDS = 8
_EXCERPT = 200  # characters of a turn in a list
_SECTION = re.compile(r"^<(?P<name>[a-z_]+)>\s*$(?P<body>.*?)^</(?P=name)>\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class TraceSearch:
    """Search criteria; empty ones are ignored."""

    user: str = ""
    words: tuple[str, ...] = ()
    status: str = ""
    reason: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @classmethod
    def of(cls, request: HttpRequest) -> "TraceSearch":
        """Read the criteria from a query string."""
        return cls(
            user=query_param(request, "user"),
            words=split_words(query_param(request, "q")),
            status=query_param(request, "status"),
            reason=query_param(request, "reason"),
            since=midnight(query_param(request, "since")),
            until=next_midnight(query_param(request, "until")),
        )

    @property
    def reads_texts(self) -> bool:
        """Return True if texts must be scanned, which is limited to the latest traces."""
        return bool(self.words or self.reason) and not self.user


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a search."""
    return tuple(text.split()[:MAX_WORDS])


def search_traces(*, project_id: UUID, search: TraceSearch) -> QuerySet[Trace]:
    """Return matching traces, newest first, with excerpts of their turns."""
    rows = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id")
    if search.user:
        rows = rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=search.user))
    if search.since:
        rows = rows.filter(created_at__gte=search.since)
    if search.until:
        rows = rows.filter(created_at__lt=search.until)
    if search.status in set(TraceStatus):
        rows = rows.filter(status=search.status)
    if search.reads_texts:
        rows = since_latest(rows, project_id)
    if search.reason:
        dropped = Q(counts__rejected__has_key=search.reason) | Q(outcomes__contains=[{"reason": search.reason}])
        rows = rows.filter(dropped)
    if search.words:
        said = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"))
        rows = rows.filter(Exists(with_words(said, search.words)))
    turns = Turn.objects.annotate(beginning=Left("content", _EXCERPT)).defer("content").order_by("position")
    return (
        rows.select_related("end_user", "session")
        .defer("plan", "metadata")
        .prefetch_related(Prefetch("turns", queryset=turns, to_attr="shown_turns"))
    )


@dataclass(frozen=True, slots=True)
class ListedTrace:
    """A trace in a list, titled by its first turn that passed the pre-filter, else by its first turn."""

    trace: Trace
    title: str


def list_traces(traces: Iterable[Trace]) -> list[ListedTrace]:
    """Add titles to traces that were read with their turns."""
    listed = []
    for trace in traces:
        turns: list[Turn] = trace.shown_turns  # type: ignore[attr-defined]  # prefetched by search_traces
        first = next((turn for turn in turns if not turn.rejected_for), turns[0] if turns else None)
        title = first.beginning if first else ""  # type: ignore[attr-defined]  # annotated by search_traces
        listed.append(ListedTrace(trace, title))
    return listed


def search_turns(*, project_id: UUID, user: str, words: tuple[str, ...]) -> QuerySet[Turn]:
    """Return the turns of a project that contain all words, latest first."""
    rows = Turn.objects.select_related("trace", "end_user", "session").filter(trace__project_id=project_id)
    # Read from the latest trace backwards, so that common words are found without sorting all matches.
    rows = rows.filter(end_user=F("trace__end_user")).order_by("-trace__created_at", "-position")
    if user:
        return with_words(rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=user)), words)
    oldest = _oldest_of_latest(project_id)
    return with_words(rows.filter(trace__created_at__gt=oldest) if oldest else rows, words)


def since_latest(rows: QuerySet[Trace], project_id: UUID) -> QuerySet[Trace]:
    """Restrict to the latest traces of a project."""
    oldest = _oldest_of_latest(project_id)
    return rows.filter(created_at__gt=oldest) if oldest else rows


def _oldest_of_latest(project_id: UUID) -> datetime | None:
    """Return when the newest trace outside the latest ones was accepted; None if there is none."""
    newest = Trace.objects.filter(project_id=project_id).order_by("-created_at")
    return newest.values_list("created_at", flat=True)[LATEST : LATEST + 1].first()


def with_words(rows: QuerySet[Turn], words: tuple[str, ...]) -> QuerySet[Turn]:
    """Keep turns that contain all words, ignoring case."""
    for word in words:
        rows = rows.filter(content__icontains=word)
    return rows


def parse_trace_id(text: str) -> UUID | None:
    """Return the UUID of a public trace identifier; None for any other text."""
    try:
        return parse(Prefix.TRACE, text) if text.startswith(f"{Prefix.TRACE}_") else None
    except BadIdentifier:
        return None


@dataclass(frozen=True, slots=True)
class TurnDetail:
    """A turn with its outcomes."""

    turn: Turn
    outcomes: list[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class TraceDetail:
    """A trace with everything that belongs to it."""

    trace: Trace
    turns: list[TurnDetail]
    spans: list[Span]
    calls: list[ModelCallGroup]
    sections: Mapping[str, str]  # the static ones of the present prompt
    prompt_version: str  # calls of another version had other sections
    memories: list[Memory]
    sentences: list[str]
    waiting: WaitReason | None
    rollback: Rollback | None = None  # that has taken back what it wrote

    @property
    def longest_us(self) -> int:
        """Return the time of the slowest stage."""
        return max((span.latency_us for span in self.spans), default=0)


def load_trace(trace: Trace) -> TraceDetail:
    """Load the details of a trace (four queries, some more for one that waits or was rolled back)."""
    whose = {"end_user_id": trace.end_user_id, "trace_id": trace.pk}
    turns = list(Turn.objects.filter(**whose).order_by("position"))
    calls = list(ModelCall.objects.filter(**whose).order_by("created_at"))
    spans = list(Span.objects.filter(**whose).order_by("position"))
    is_queued = trace.status == TraceStatus.QUEUED
    return TraceDetail(
        trace=trace,
        turns=[TurnDetail(turn, outcomes_of(trace, turn)) for turn in turns],
        spans=spans,
        calls=group_calls(calls),
        sections=sections_of(STATIC),
        prompt_version=VERSION,
        memories=list(Memory.objects.filter(**whose).to_show().order_by("candidate_index")),
        sentences=trace_sentences(trace, turns=turns, spans=spans, calls=calls),
        waiting=find_wait_reason(end_user_id=trace.end_user_id, subject_id=trace.pk) if is_queued else None,
        rollback=Rollback.objects.filter(pk=trace.rollback_id).first() if trace.rollback_id else None,
    )


def outcomes_of(trace: Trace, turn: Turn) -> list[Mapping[str, Any]]:
    """Return the outcomes of the turn's candidates, or the one that explains why there are none."""
    return [line for line in trace.outcomes if line.get("turn") == turn.shown_id]


def sections_of(static: str) -> dict[str, str]:
    """Return the sections by name, in their order; what stands before the first one is `introduction`."""
    first = _SECTION.search(static)
    before = static[: first.start()].strip() if first else static.strip()
    found = {match["name"]: match["body"].strip() for match in _SECTION.finditer(static)}
    return ({"introduction": before} if before else {}) | found
