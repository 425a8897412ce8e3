"""Traces as people look for them: by user, words, outcome and time."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Prefetch, Q, QuerySet
from django.db.models.functions import Left

from apps.console.selectors.pictures import FunnelStep, funnel
from apps.memories.models import Memory
from apps.pipeline.core.enums import Outcome, Reason, Stage, TraceStatus
from apps.pipeline.core.identifiers import BadIdentifier, Prefix, end_user_id, parse
from apps.pipeline.prompts.extract import STATIC, VERSION
from apps.pipeline.prompts.static import sections_of
from apps.traces.models import ModelCall, Span, Trace, Turn

LATEST = 20_000  # traces of a project that words and reasons are looked for in, unless a user or time narrows them
_BEGINNING = 200  # characters of a turn that a list shows


@dataclass(frozen=True, slots=True)
class Sought:
    """What someone looks for; empty parts don't narrow."""

    user: str = ""
    words: tuple[str, ...] = ()
    status: str = ""
    reason: str = ""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def reads_texts(self) -> bool:
        """Tell whether traces have to be read to know, and so only the latest are."""
        return bool(self.words or self.reason) and not self.user


def traces_sought(*, project_id: UUID, sought: Sought) -> QuerySet[Trace]:
    """Return the traces that fit, the newest first, each with the beginnings of its turns."""
    rows = Trace.objects.filter(project_id=project_id).order_by("-created_at", "-id")
    rows = _narrowed(rows, project_id, sought)
    if sought.status in set(TraceStatus):
        rows = rows.filter(status=sought.status)
    if sought.reads_texts:
        rows = since_latest(rows, project_id)
    if sought.reason:
        dropped = Q(counts__rejected__has_key=sought.reason) | Q(outcomes__contains=[{"reason": sought.reason}])
        rows = rows.filter(dropped)
    if sought.words:
        said = Turn.objects.filter(end_user=OuterRef("end_user"), trace=OuterRef("pk"))
        rows = rows.filter(Exists(with_words(said, sought.words)))
    turns = Turn.objects.annotate(beginning=Left("content", _BEGINNING)).defer("content").order_by("position")
    return (
        rows.select_related("end_user", "session")
        .defer("plan", "metadata")
        .prefetch_related(Prefetch("turns", queryset=turns, to_attr="shown_turns"))
    )


@dataclass(frozen=True, slots=True)
class ListedTrace:
    """A trace in a list, named by its first turn that went on, else by its first."""

    trace: Trace
    title: str


def listed(traces: Iterable[Trace]) -> list[ListedTrace]:
    """Name traces that were read with their turns."""
    shown = ((trace, trace.shown_turns) for trace in traces)  # type: ignore[attr-defined]  # prefetched by traces_sought
    return [ListedTrace(trace, _title(turns)) for trace, turns in shown]


def _title(turns: list[Turn]) -> str:
    first = next((turn for turn in turns if not turn.rejected_for), turns[0] if turns else None)
    return first.beginning if first else ""  # type: ignore[attr-defined]  # annotated by traces_sought


def turns_sought(*, project_id: UUID, user: str, words: tuple[str, ...]) -> QuerySet[Turn]:
    """Return the turns of a project in which all words stand, the latest first."""
    rows = Turn.objects.select_related("trace", "end_user", "session").filter(trace__project_id=project_id)
    # Read trace by trace from the latest one back, so that common words are found without sorting all that hold them.
    rows = rows.filter(end_user=F("trace__end_user")).order_by("-trace__created_at", "-position")
    if user:
        return with_words(rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=user)), words)
    oldest = _oldest_of_latest(project_id)
    return with_words(rows.filter(trace__created_at__gt=oldest) if oldest else rows, words)


def since_latest(rows: QuerySet[Trace], project_id: UUID) -> QuerySet[Trace]:
    """Keep the latest traces of a project."""
    oldest = _oldest_of_latest(project_id)
    return rows.filter(created_at__gt=oldest) if oldest else rows


def _oldest_of_latest(project_id: UUID) -> datetime | None:
    """Return when the last trace before the latest ones was accepted; None when there are not that many."""
    newest = Trace.objects.filter(project_id=project_id).order_by("-created_at")
    return newest.values_list("created_at", flat=True)[LATEST : LATEST + 1].first()


def with_words(rows: QuerySet[Turn], words: tuple[str, ...]) -> QuerySet[Turn]:
    """Keep the turns in which all words stand, whatever their case."""
    for word in words:
        rows = rows.filter(content__icontains=word)
    return rows


def trace_named(text: str) -> UUID | None:
    """Read a trace's identifier, as it is shown; None for any other text."""
    try:
        return parse(Prefix.TRACE, text) if text.startswith(f"{Prefix.TRACE}_") else None
    except BadIdentifier:
        return None


def _narrowed(rows: QuerySet[Trace], project_id: UUID, sought: Sought) -> QuerySet[Trace]:
    if sought.user:
        rows = rows.filter(end_user_id=end_user_id(project_id=project_id, user_id=sought.user))
    if sought.since:
        rows = rows.filter(created_at__gte=sought.since)
    return rows.filter(created_at__lt=sought.until) if sought.until else rows


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A turn with what became of it."""

    turn: Turn
    lines: list[Mapping[str, Any]]  # of the outcomes


@dataclass(frozen=True, slots=True)
class ToldCall:
    """A model call with the sections of the prompt that are the same for all calls."""

    call: ModelCall
    sections: Mapping[str, str]  # none when the prompt has changed since


@dataclass(frozen=True, slots=True)
class ToldTrace:
    """A trace with everything that happened in it."""

    trace: Trace
    turns: list[ToldTurn]
    spans: list[Span]
    calls: list[ToldCall]
    memories: list[Memory]
    funnel: list[FunnelStep]

    @property
    def longest_us(self) -> int:
        """Return the time of the slowest stage."""
        return max((span.latency_us for span in self.spans), default=0)


def told(trace: Trace) -> ToldTrace:
    """Read what belongs to a trace; four statements."""
    whose = {"end_user_id": trace.end_user_id, "trace_id": trace.pk}
    turns = list(Turn.objects.filter(**whose).order_by("position"))
    calls = ModelCall.objects.filter(**whose).order_by("created_at")
    sections = sections_of(STATIC)
    return ToldTrace(
        trace=trace,
        turns=[ToldTurn(turn, lines_of(trace, turn)) for turn in turns],
        spans=list(Span.objects.filter(**whose).order_by("position")),
        calls=[ToldCall(call, sections if call.prompt_version == VERSION else {}) for call in calls],
        memories=list(Memory.objects.filter(**whose).to_show().order_by("candidate_index")),
        funnel=funnel(steps_of(trace, turns)),
    )


def lines_of(trace: Trace, turn: Turn) -> list[Mapping[str, Any]]:
    """Return the outcomes of a turn's candidates, or the one that says why it has none."""
    return [line for line in trace.outcomes if line.get("turn") == turn.shown_id]


def steps_of(trace: Trace, turns: list[Turn]) -> list[tuple[str, int, str]]:
    """Return what was left after each stage that dropped something, with what it dropped."""
    rejected = [turn.rejected_for for turn in turns if turn.rejected_for]
    steps = [("turns", len(turns), _lost(rejected))]
    if len(turns) == len(rejected):
        return [*steps, ("went on", 0, "")]
    silent = sum(line.get("reason") == Reason.NO_CANDIDATE for line in trace.outcomes)
    steps.append(("past the pre-filter", len(turns) - len(rejected), f"{silent} without a candidate" if silent else ""))
    fates = [line for line in trace.outcomes if line.get("candidate") is not None]
    left, label = len(fates), "candidates"
    for stage in (Stage.EXTRACT, Stage.RESOLVE_REFS, Stage.DEDUPE, Stage.CONFLICT):
        gone = [
            str(line["reason"]) for line in fates if line["stage"] == stage and line["outcome"] == Outcome.DISCARDED
        ]
        if gone:
            steps.append((label, left, f"{stage.replace('_', ' ')}: {_lost(gone)}"))
            left, label = left - len(gone), f"left after {stage.replace('_', ' ')}"
    ended = Counter(str(line["outcome"]) for line in fates if line["outcome"] != Outcome.DISCARDED)
    told_ends = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in ended.items())
    return [*steps, ("candidates written" if left else "candidates left", left, told_ends)]


def _lost(reasons: list[str]) -> str:
    counted = Counter(reasons).most_common(3)
    return ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in counted)
